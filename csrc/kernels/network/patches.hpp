// Convolutions and pooling of one record: values are [position][channel].
#pragma once

#include <algorithm>

#include "kernels/network/products.hpp"

PYDPMC_ISA_BEGIN

// Calls call(patch position, window position, input position) wherever the window lies within the input.
template <class Call>
PYDPMC_INLINE void for_each_tap(const Layer& layer, const Call& call) noexcept {
  for (int y = 0; y < layer.out.height; ++y)
    for (int x = 0; x < layer.out.width; ++x)
      for (int dy = 0; dy < layer.window; ++dy) {
        const int row = y * layer.stride + dy - layer.padding;
        if (row < 0 || row >= layer.in.height) continue;
        for (int dx = 0; dx < layer.window; ++dx) {
          const int column = x * layer.stride + dx - layer.padding;
          if (column < 0 || column >= layer.in.width) continue;
          call(y * layer.out.width + x, dy * layer.window + dx, row * layer.in.width + column);
        }
      }
}

// patches[position][window position][channel]; zero beyond the edges.
inline void gather_patches(const Layer& layer, const float* in, float* patches, size_t stride) noexcept {
  const size_t c = static_cast<size_t>(layer.in.channels);
  std::fill_n(patches, static_cast<size_t>(layer.out.positions()) * stride, 0.0f);
  for_each_tap(layer, [&](int to, int tap, int at) PYDPMC_LAMBDA {
    std::copy_n(in + static_cast<size_t>(at) * c, c,
                patches + static_cast<size_t>(to) * stride + static_cast<size_t>(tap) * c);
  });
}

// The transpose of gather_patches: adds the slopes of patches to the slopes of the inputs, in a fixed order.
inline void scatter_patches(const Layer& layer, const float* patches, size_t stride, float* in) noexcept {
  const int c = layer.in.channels;
  for_each_tap(layer, [&](int to, int tap, int at) PYDPMC_LAMBDA {
    const float* slope = patches + static_cast<size_t>(to) * stride + static_cast<size_t>(tap * c);
    for (int k = 0; k < c; ++k) in[static_cast<size_t>(at * c + k)] += slope[k];
  });
}

// gradient[out][patch], padded to whole panels, and then the gradient of the biases: sums over positions, in
// their order.
[[gnu::noinline]] inline void filter_gradient(const Layer& layer, const float* patches, size_t stride,
                                              const float* slope, float* gradient) noexcept {
  const int positions = layer.out.positions(), out = layer.outputs();
  multiply({slope, 1, static_cast<size_t>(out)}, out, {patches, stride, panel}, positions,
           static_cast<int>(stride), {nullptr, 0}, gradient, stride);
  float* bias = gradient + static_cast<size_t>(out) * stride;
  for (int j = 0; j < out; ++j) {
    float total = 0.0f;
    for (int p = 0; p < positions; ++p) total += slope[static_cast<size_t>(p) * static_cast<size_t>(out) + j];
    bias[j] = total;
  }
}

inline void pool(const Layer& layer, const float* in, float* out) noexcept {
  const int c = layer.in.channels;
  const bool largest = layer.kind == LayerKind::max_pool;
  const float share = 1.0f / static_cast<float>(layer.window * layer.window);
  std::fill_n(out, layer.out.size(), largest ? -__builtin_inff() : 0.0f);
  for_each_tap(layer, [&](int to, int, int at) PYDPMC_LAMBDA {
    for (int k = 0; k < c; ++k) {
      float& value = out[to * c + k];
      const float x = in[at * c + k];
      value = largest ? (x > value ? x : value) : value + x * share;
    }
  });
}

// The slope of a maximum goes to the first input that attains it, which may be none if there is a NaN.
inline void unpool(const Layer& layer, const float* in, const float* out, float* slope,
                   float* in_slope) noexcept {
  const int c = layer.in.channels;
  const bool largest = layer.kind == LayerKind::max_pool;
  const float share = 1.0f / static_cast<float>(layer.window * layer.window);
  for_each_tap(layer, [&](int to, int, int at) PYDPMC_LAMBDA {
    for (int k = 0; k < c; ++k) {
      float& rest = slope[to * c + k];
      if (!largest) {
        in_slope[at * c + k] += rest * share;
      } else if (in[at * c + k] == out[to * c + k]) {
        in_slope[at * c + k] += rest;
        rest = 0.0f;
      }
    }
  });
}

PYDPMC_ISA_END
