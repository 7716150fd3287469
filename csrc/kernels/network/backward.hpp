// Slopes of a microbatch's log-likelihoods in the outputs of every layer, from the last to the first.
#pragma once

#include "kernels/network/forward.hpp"

PYDPMC_ISA_BEGIN

// log p(y | outputs), and its slopes in the outputs unless `slope` is null. A target that is not a class
// gives NaN.
inline double softmax_slopes(const float* out, int classes, double y, double* share, float* slope) noexcept {
  double top = -__builtin_inf(), total = 0.0;
  for (int c = 0; c < classes; ++c) top = out[c] > top ? static_cast<double>(out[c]) : top;
  for (int c = 0; c < classes; c += lanes) store(share + c, exp_below_zero(load(out + c) - top));
  bool found = false;
  for (int c = 0; c < classes; ++c) {
    total += share[c];
    found = found || y == c;
  }
  const double known = found ? 1.0 : __builtin_nan("");
  if (slope)
    for (int c = 0; c < classes; ++c)
      slope[c] = static_cast<float>((y == c ? known : known - 1.0) - share[c] / total);
  double log_total[lanes];
  store(log_total, log_from_one(fill(total)));
  return found ? static_cast<double>(out[static_cast<int>(y)]) - top - log_total[0] : __builtin_nan("");
}

inline double normal_slopes(const float* out, double sigma, double y, float* slope) noexcept {
  const double z = (y - static_cast<double>(out[0])) / sigma;
  if (slope) *slope = static_cast<float>(z / sigma);
  return -0.5 * z * z;
}

inline double output_slopes(const Microbatch& batch, int r, double y, float* slope) noexcept {
  const NetworkModel& net = batch.net;
  const float* out = batch.value(net.layers.size(), r);
  if (net.likelihood == NetworkLikelihood::normal) return normal_slopes(out, net.sigma, y, slope);
  double* share = reinterpret_cast<double*>(batch.at(net.layout.row));
  return softmax_slopes(out, net.outputs(), y, share, slope);
}

// The gradient of a convolution's parameters, and the slopes in its inputs unless it is the first layer.
inline void convolve_back(const Microbatch& batch, size_t l, int r) noexcept {
  const Layer& layer = batch.net.layers[l];
  const NetworkLayout& at = batch.net.layout;
  const size_t stride = whole_panels(layer.patch());
  float* patches = batch.at(at.patches);
  const float* slope = batch.slope(l + 1, r);
  gather_patches(layer, batch.value(l, r), patches, stride);
  filter_gradient(layer, patches, stride, slope,
                  batch.at(at.gradient[l]) + static_cast<size_t>(r) * filter_size(layer));
  if (l == 0) return;
  multiply({slope, static_cast<size_t>(layer.outputs()), 1}, layer.out.positions(),
           packed_weights(batch.at(at.backward[l]), layer.outputs()), layer.outputs(), layer.patch(),
           {nullptr, 0}, batch.at(at.patch_slopes), stride);
  scatter_patches(layer, batch.at(at.patch_slopes), stride, batch.slope(l, r));
}

// Adds to the slopes in the inputs of layer l, and of `from`, for record r.
inline void apply_back(const Microbatch& batch, size_t l, int r) noexcept {
  const Layer& layer = batch.net.layers[l];
  const float *in = batch.value(l, r), *out = batch.value(l + 1, r);
  float *slope = batch.slope(l + 1, r), *in_slope = batch.slope(l, r);
  const int size = layer.out.size();
  switch (layer.kind) {
    case LayerKind::tanh:
      for (int j = 0; j < size; ++j) in_slope[j] += slope[j] * (1.0f - out[j] * out[j]);
      return;
    case LayerKind::relu:
      for (int j = 0; j < size; ++j) in_slope[j] += in[j] < 0.0f ? 0.0f : slope[j];
      return;
    case LayerKind::add: {
      float* other = batch.slope(static_cast<size_t>(layer.from), r);
      for (int j = 0; j < size; ++j) in_slope[j] += slope[j];
      for (int j = 0; j < size; ++j) other[j] += slope[j];
      return;
    }
    case LayerKind::conv:
      return convolve_back(batch, l, r);
    default:
      return unpool(layer, in, out, slope, in_slope);
  }
}

// Requires the slopes in the last outputs. The slopes in the network's inputs are not computed.
inline void run_backward(const Microbatch& batch) noexcept {
  const NetworkModel& net = batch.net;
  const size_t last = net.layers.size();
  for (size_t l = 0; l < last; ++l)
    std::fill_n(batch.slope(l, 0), static_cast<size_t>(batch.count) * batch.width(l), 0.0f);
  for (size_t l = last; l-- > 0;) {
    const Layer& layer = net.layers[l];
    if (layer.kind != LayerKind::dense) {
      for (int r = 0; r < batch.count; ++r) apply_back(batch, l, r);
    } else if (l > 0) {
      // Later layers may have added to these slopes, so the sums start from them.
      multiply({batch.slope(l + 1, 0), batch.width(l + 1), 1}, batch.count,
               packed_weights(batch.at(net.layout.backward[l]), layer.outputs()), layer.outputs(),
               layer.patch(), {batch.slope(l, 0), batch.width(l)}, batch.slope(l, 0), batch.width(l));
    }
  }
}

PYDPMC_ISA_END
