// Sums of gradients by the kernels as they are where no vector instructions are known: one line of integers
// for each theta. Arguments: model, columns, intercept (0 or 1), storage, stride, rows, clip, grid steps per
// unit, narrow (0 or 1). Standard input: the rows, then thetas until it ends.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "kernels/gradient/gradient_kernels.hpp"
#include "kernels/gradient/narrow_gradient.hpp"
#include "models/facts.hpp"
#include "query/gradient_grid.hpp"
#include "threads/workspaces.hpp"

#if defined(__SSE2__) || defined(__AVX2__)
#error "to be compiled with -U__SSE2__ -U__AVX2__"
#endif

using namespace pydpmc;
using namespace pydpmc::PYDPMC_ISA;

int main(int, char** argument) {
  const auto number = [&](int k) { return std::atoi(argument[k]); };
  const int columns = number(2), stride = number(5), n = number(6);
  const auto storage = static_cast<Storage>(number(4));
  const size_t width = storage == Storage::float64 ? 8 : storage == Storage::float32 ? 4 : 2;
  std::vector<char> rows(static_cast<size_t>(stride) * static_cast<size_t>(n) * width);
  if (std::fread(rows.data(), 1, rows.size(), stdin) != rows.size()) return 1;

  ModelSpec model{};
  model.kind = model_named(argument[1]).value();
  model.columns = columns;
  model.intercept = number(3) != 0;
  model.dim = columns + number(3);
  model.constants[0] = 0.5, model.constants[1] = 1.345;
  Records records{};
  records.rows = rows.data(), records.storage = storage, records.n = n;
  records.columns = columns, records.stride = stride, records.has_target = true;
  std::vector<double> squares(static_cast<size_t>(n)), theta(static_cast<size_t>(model.dim));
  squared_norms(records, squares.data());
  records.squares = {squares.data()};

  const double clip = std::atof(argument[7]), per_unit = std::atof(argument[8]);
  const bool narrow = number(9) != 0;
  const GradientGrid grid = narrow ? narrow_grid(storage, clip, 1.0 / per_unit, theta.size())
                                   : grid_within(clip, 1.0 / per_unit, model.dim);
  Workspaces workspaces(1, model);
  while (std::fread(theta.data(), sizeof(double), theta.size(), stdin) == theta.size()) {
    workspaces.clear(0, 1);
    (narrow ? narrow_sums : gradient_sums)(model, records, theta.data(), workspaces.slopes(0), {nullptr, n},
                                           grid, workspaces.sums(0));
    for (int j = 0; j < model.dim; ++j) std::printf("%lld ", static_cast<long long>(workspaces.sums(0)[j]));
    std::printf("\n");
  }
}
