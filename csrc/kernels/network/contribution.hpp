// The integers that one record adds: docs/privacy/networks.md, lemmas 1 and 2. Of a dense layer they are an
// outer product of two vectors of sixteen-bit integers, output factors and input factors; of a convolution
// the rounded gradient. Their norm is checked in exact arithmetic before anything is added.
#pragma once

#include "kernels/network/backward.hpp"
#include "simd/outer_products16.hpp"

PYDPMC_ISA_BEGIN

constexpr float largest_factor = 32767.0f;

typedef int64_t Squares __attribute__((vector_size(narrow_native * 8)));

// Rounds the products of `scale` and the floats of a panel to the nearest integers, clamped to sixteen bits,
// NaN counting as zero, and writes them into their half of the words of a pair. Adds their squares.
PYDPMC_INLINE void write_panel(const float* x, float scale, int half, int32_t* words,
                               Squares& squares) noexcept {
  const NarrowF most = largest_factor - NarrowF{}, none{};
  const NarrowU low = NarrowU{} + 0xffffu, kept = half ? low : ~low;
  const unsigned shift = half ? 16 : 0;
  for (int v = 0; v < narrow_parts; ++v) {
    NarrowF y = load_narrow(x + v * narrow_native) * scale;
    y = y < -most ? -most : y;
    y = y > most ? most : y;
    y = y == y ? y : none;
    const NarrowU q = reinterpret_cast<NarrowU>(y + narrow_magic) - narrow_magic_bits;
    const NarrowU other = unaligned<NarrowU>(words + v * narrow_native);
    const NarrowU pair = (other & kept) | ((q & low) << shift), square = q * q;  // below 2^30
    __builtin_memcpy(words + v * narrow_native, &pair, sizeof pair);
    squares = squares + __builtin_convertvector(square, Squares);
  }
}

// Does so for all floats; words beyond the last, up to a whole panel, get zeros. The norm is exact.
[[gnu::noinline]] inline double write_factors(const float* x, int size, float scale, int half,
                                              int32_t* words) noexcept {
  Squares squares{};
  const int whole = size / panel * panel;
  for (int k = 0; k < whole; k += panel) write_panel(x + k, scale, half, words + k, squares);
  if (whole < size) {
    float last[panel] = {};
    std::copy(x + whole, x + size, last);
    write_panel(last, scale, half, words + whole, squares);
  }
  int64_t total = 0;
  for (int k = 0; k < narrow_native; ++k) total += squares[k];
  return static_cast<double>(total);
}

PYDPMC_INLINE double sum_of_squares(const float* x, size_t size) noexcept {
  double total[lanes] = {};
  size_t k = 0;
  for (; k + lanes <= size; k += lanes)
    for (size_t i = 0; i < lanes; ++i)
      total[i] += static_cast<double>(x[k + i]) * static_cast<double>(x[k + i]);
  for (; k < size; ++k) total[k % lanes] += static_cast<double>(x[k]) * static_cast<double>(x[k]);
  double all = 0.0;
  for (double part : total) all += part;
  return all;
}

// Calls call(gradient, its place in theta) for all weights and biases of a convolution.
template <class Call>
PYDPMC_INLINE void for_each_filter(const Layer& layer, const float* gradient, const Call& call) noexcept {
  const int in = layer.patch(), out = layer.outputs();
  const size_t stride = whole_panels(in);
  for (int j = 0; j < out; ++j) call(gradient + static_cast<size_t>(j) * stride, in, layer.offset + j * in);
  call(gradient + static_cast<size_t>(out) * stride, out, layer.offset + layer.weights());
}

// One record's contribution, in units of the grid.
struct Contribution {
  const Microbatch& batch;
  int r;
  const GradientGrid& grid;

  int32_t* words(const std::vector<size_t>& place, size_t l, int size) const noexcept {
    int32_t* first = reinterpret_cast<int32_t*>(batch.at(place[l]));
    return first + static_cast<size_t>(r / 2) * whole_panels(size);
  }
  int32_t* inputs(size_t l) const noexcept {
    return words(batch.net.layout.input, l, batch.net.layers[l].patch());
  }
  int32_t* outputs(size_t l) const noexcept {
    return words(batch.net.layout.output, l, batch.net.layers[l].outputs());
  }
  const float* filters(size_t l) const noexcept {
    const size_t each = filter_size(batch.net.layers[l]);
    return batch.at(batch.net.layout.gradient[l]) + static_cast<size_t>(r) * each;
  }
  // The integer that multiplies a bias's slope, as inputs multiply a weight's.
  static double one(const Layer& layer) noexcept { return 1.0 / layer.input_unit; }

  // Rounds the inputs of dense layers; keeps |inputs|^2 of each. Returns the factor by which the gradient is
  // scaled before it is rounded, or a negative number if the gradient is not finite. The factor leaves room
  // for the rounding.
  double round_inputs(double* squares) const noexcept {
    double gradient2 = 0.0, room2 = 0.0;
    for (size_t l = 0; l < batch.net.layers.size(); ++l) {
      const Layer& layer = batch.net.layers[l];
      if (layer.kind == LayerKind::dense) {
        const double unit = layer.input_unit, bias = one(layer);
        squares[l] = bias * bias + write_factors(batch.value(l, r), layer.patch(),
                                                 static_cast<float>(1.0 / unit), r % 2, inputs(l));
        const double slope2 = sum_of_squares(batch.slope(l + 1, r), static_cast<size_t>(layer.outputs()));
        gradient2 += slope2 * squares[l] * (unit * unit);
        room2 += layer.outputs() * squares[l];
      } else if (layer.kind == LayerKind::conv) {
        for_each_filter(layer, filters(l), [&](const float* g, int size, int) PYDPMC_LAMBDA {
          gradient2 += sum_of_squares(g, static_cast<size_t>(size));
        });
        room2 += layer.weights() + layer.outputs();
      }
    }
    const double norm = __builtin_sqrt(gradient2) * grid.per_unit;
    const double most = grid.clip * grid.per_unit * (1.0 - 0x1p-20) - 0.5 * __builtin_sqrt(room2);
    if (!(norm <= 0x1p500) || !(most > 0.0)) return -1.0;
    return norm > most ? most / norm : 1.0;
  }

  // Rounds everything else; returns the squared norm of all integers, exactly wherever it is below 2^53.
  double round_outputs(double scale, const double* squares) const noexcept {
    double total = 0.0;
    for (size_t l = 0; l < batch.net.layers.size(); ++l) {
      const Layer& layer = batch.net.layers[l];
      if (layer.kind == LayerKind::dense) {
        const float factor = static_cast<float>(scale * layer.input_unit * grid.per_unit);
        const int out = layer.outputs();
        total += squares[l] * write_factors(batch.slope(l + 1, r), out, factor, r % 2, outputs(l));
      } else if (layer.kind == LayerKind::conv) {
        for_each_filter(layer, filters(l), [&](const float* g, int size, int) PYDPMC_LAMBDA {
          for (int k = 0; k < size; ++k) {
            const double q = nearest(g[k], scale);
            total += q * q;
          }
        });
      }
    }
    return total;
  }

  PYDPMC_INLINE double nearest(float g, double scale) const noexcept {
    return (static_cast<double>(g) * (scale * grid.per_unit) + rounding_magic) - rounding_magic;
  }

  void add_filters(double scale, int64_t* sums) const noexcept {
    for (size_t l = 0; l < batch.net.layers.size(); ++l)
      if (batch.net.layers[l].kind == LayerKind::conv)
        for_each_filter(batch.net.layers[l], filters(l), [&](const float* g, int size, int at) PYDPMC_LAMBDA {
          for (int k = 0; k < size; ++k) sums[at + k] += static_cast<int64_t>(nearest(g[k], scale));
        });
  }

  // A record without output factors adds nothing.
  void clear() const noexcept {
    for (size_t l = 0; l < batch.net.layers.size(); ++l)
      if (batch.net.layers[l].kind == LayerKind::dense) {
        const int out = batch.net.layers[l].outputs();
        for (int j = 0; j < out; ++j)
          outputs(l)[j] =
              static_cast<int32_t>(static_cast<uint32_t>(outputs(l)[j]) & (r % 2 ? 0xffff : 0xffff0000));
      }
  }

  // Prepares the factors of dense layers and adds the gradients of convolutions.
  void make(double* squares, int64_t* sums) const noexcept {
    const double scale = round_inputs(squares);
    const double most = grid.clip * grid.per_unit * (1.0 - 1e-12);
    if (scale < 0.0 || !(round_outputs(scale, squares) <= most * most)) return clear();
    add_filters(scale, sums);
  }
};

PYDPMC_ISA_END
