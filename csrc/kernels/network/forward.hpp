// Values of a microbatch, layer by layer. A record's values depend on the record and theta alone: products
// are sums in a fixed order, and everything else acts on each number or each record by itself.
#pragma once

#include "kernels/network/patches.hpp"
#include "simd/functions.hpp"

PYDPMC_ISA_BEGIN

// One microbatch in the scratch memory of a thread.
struct Microbatch {
  const NetworkModel& net;
  float* scratch;
  int count;

  float* at(size_t place) const noexcept { return scratch + place; }
  size_t width(size_t l) const noexcept {  // floats from record to record; l = 0 are the inputs
    return whole_panels(l == 0 ? net.inputs() : net.layers[l - 1].out.size());
  }
  float* value(size_t l, int r) const noexcept {
    return at(net.layout.value[l]) + static_cast<size_t>(r) * width(l);
  }
  float* slope(size_t l, int r) const noexcept {
    return at(net.layout.slope[l]) + static_cast<size_t>(r) * width(l);
  }
};

// Packs the weights of all layers, in single precision: for the forward pass with the biases as a last row,
// and for the backward pass.
inline void prepare_weights(const NetworkModel& net, const double* theta, float* scratch) noexcept {
  for (size_t l = 0; l < net.layers.size(); ++l) {
    const Layer& layer = net.layers[l];
    if (!layer.has_weights()) continue;
    const int in = layer.patch(), out = layer.outputs();
    const double* weight = theta + layer.offset;
    float* forward = scratch + net.layout.forward[l];
    const auto at = [&](int k, int j) PYDPMC_LAMBDA {
      return static_cast<float>(
          weight[static_cast<size_t>(j) * static_cast<size_t>(in) + static_cast<size_t>(k)]);
    };
    pack_weights(forward, in, out, at);
    float* bias = forward + static_cast<size_t>(in) * whole_panels(out);
    for (size_t j = 0; j < whole_panels(out); ++j)
      bias[j] = j < static_cast<size_t>(out)
                    ? static_cast<float>(weight[layer.weights() + static_cast<int>(j)])
                    : 0.0f;
    if (l > 0)  // slopes in the network's inputs are not computed
      pack_weights(scratch + net.layout.backward[l], out, in,
                   [&](int j, int k) PYDPMC_LAMBDA { return at(k, j); });
  }
}

PYDPMC_INLINE void store_narrow(float* to, F8 x) noexcept {
  double wide[lanes];
  store(wide, x);
  for (int k = 0; k < lanes; ++k) to[k] = static_cast<float>(wide[k]);
}

// tanh(x) = sign(x) (1 - t) / (1 + t) with t = exp(-2 |x|); NaN stays NaN.
PYDPMC_INLINE F8 tanh8(F8 x) noexcept {
  const F8 t = exp_in_range(max(-2.0 * abs(x), fill(-708.0)));
  const F8 size = (1.0 - t) / (1.0 + t);
  return select(x == x, select(x < fill(0.0), 0.0 - size, size), x);
}

inline void convolve(const Microbatch& batch, size_t l, int r) noexcept {
  const Layer& layer = batch.net.layers[l];
  const NetworkLayout& at = batch.net.layout;
  const size_t stride = whole_panels(layer.patch()), padded = whole_panels(layer.outputs());
  float *patches = batch.at(at.patches), *wide = batch.at(at.patch_slopes);
  gather_patches(layer, batch.value(l, r), patches, stride);
  const float* packed = batch.at(at.forward[l]);
  multiply({patches, stride, 1}, layer.out.positions(), packed_weights(packed, layer.patch()), layer.patch(),
           layer.outputs(), {packed + static_cast<size_t>(layer.patch()) * padded, 0}, wide, padded);
  const size_t out = static_cast<size_t>(layer.outputs());
  for (int p = 0; p < layer.out.positions(); ++p)
    std::copy_n(wide + static_cast<size_t>(p) * padded, out,
                batch.value(l + 1, r) + static_cast<size_t>(p) * out);
}

// The outputs of layer l for record r; whole panels may be read and written.
inline void apply(const Microbatch& batch, size_t l, int r) noexcept {
  const Layer& layer = batch.net.layers[l];
  const float* in = batch.value(l, r);
  float* out = batch.value(l + 1, r);
  const size_t size = batch.width(l + 1);
  switch (layer.kind) {
    case LayerKind::tanh:
      for (size_t j = 0; j < size; j += lanes) store_narrow(out + j, tanh8(load(in + j)));
      return;
    case LayerKind::relu:
      for (size_t j = 0; j < size; ++j) out[j] = in[j] < 0.0f ? 0.0f : in[j];
      return;
    case LayerKind::add: {
      const float* other = batch.value(static_cast<size_t>(layer.from), r);
      for (size_t j = 0; j < size; ++j) out[j] = in[j] + other[j];
      return;
    }
    case LayerKind::conv:
      return convolve(batch, l, r);
    default:
      return pool(layer, in, out);
  }
}

inline void run_forward(const Microbatch& batch) noexcept {
  const NetworkModel& net = batch.net;
  for (size_t l = 0; l < net.layers.size(); ++l) {
    const Layer& layer = net.layers[l];
    if (layer.kind != LayerKind::dense) {
      for (int r = 0; r < batch.count; ++r) apply(batch, l, r);
      continue;
    }
    const float* packed = batch.at(net.layout.forward[l]);
    const float* bias = packed + static_cast<size_t>(layer.patch()) * whole_panels(layer.outputs());
    multiply({batch.value(l, 0), batch.width(l), 1}, batch.count, packed_weights(packed, layer.patch()),
             layer.patch(), layer.outputs(), {bias, 0}, batch.value(l + 1, 0), batch.width(l + 1));
  }
}

PYDPMC_ISA_END
