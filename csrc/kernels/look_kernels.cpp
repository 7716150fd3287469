// Compiled once per instruction set (see CMakeLists.txt): the loops over records of a look.
#include "kernels/curvature/look.hpp"
#include "kernels/curvature/softmax_look.hpp"
#include "simd/isa.hpp"

PYDPMC_ISA_BEGIN

inline void look_sums(const ModelSpec& spec, const Records& records, const double* theta, double* scratch,
                      int64_t begin, int64_t end, const LookGrid& grid, int64_t* sums,
                      int64_t* products) noexcept {
  with_types(spec, records, [&]<class Model, class Scalar>(Model, const Table<Scalar>& table) {
    if constexpr (has_terms<Model>) {
      const Prepared p = Model::prepare(spec, theta, scratch);
      double* q = from_cache_line(scratch + prepared_size(spec));
      if constexpr (Model::has_classes)
        add_softmax_look<Model>(spec, table, records, p, begin, end, grid, q, sums, products);
      else
        add_look<Model>(spec, table, records, p, begin, end, grid, q, sums, products);
    }
  });
}

extern const LookKernels look_table;
const LookKernels look_table{look_sums};

PYDPMC_ISA_END
