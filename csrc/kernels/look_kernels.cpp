// Compiled once per instruction set (see CMakeLists.txt): the loops over records of a look.
#include "kernels/curvature/fit_look.hpp"
#include "kernels/curvature/look.hpp"
#include "kernels/curvature/softmax_look.hpp"
#include "kernels/curvature/tile_look.hpp"
#include "simd/isa.hpp"

PYDPMC_ISA_BEGIN

inline void look_sums(const ModelSpec& spec, const Records& records, const double* theta, double* scratch,
                      int64_t begin, int64_t end, const LookGrid& grid, int64_t* sums,
                      int64_t* products) noexcept {
  with_types(spec, records, [&]<class Model, class Scalar>(Model, const Table<Scalar>& table) {
    if constexpr (has_terms<Model>) {
      const Prepared p = Model::prepare(spec, theta, scratch);
      if constexpr (Model::has_slopes && !Model::has_classes)
        if (grid.edges) return add_fit_look<Model>(table, records, p, begin, end, grid, sums, products);
      double* q = from_cache_line(scratch + prepared_size(spec));
      if constexpr (Model::has_classes)
        add_softmax_look<Model>(spec, table, records, p, begin, end, grid, q, sums, products);
      else if constexpr (Model::has_slopes)
        (spec.columns <= longest_look_tile
             ? add_tile_look<Model, Scalar>
             : add_look<Model, Scalar>)(spec, table, records, p, begin, end, grid, q, sums, products);
      else
        add_look<Model>(spec, table, records, p, begin, end, grid, q, sums, products);
    }
  });
}

extern const LookKernels look_table;
const LookKernels look_table{look_sums};

PYDPMC_ISA_END
