// A feed-forward network as the kernels see it: a list of layers, each of which reads the values before it.
// Values of a record are stored position by position with channels last. kernels/network/ has the loops.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "concepts.hpp"

namespace pydpmc {

enum class LayerKind : int { dense, conv, tanh, relu, max_pool, mean_pool, add };

struct Shape {
  int height, width, channels;

  int size() const noexcept { return height * width * channels; }
  int positions() const noexcept { return height * width; }
};

// Parameters are weight[out][in], the inputs of a convolution being those of a patch, and bias[out].
struct Layer {
  LayerKind kind;
  Shape in, out;
  int window = 1, stride = 1, padding = 0;  // of convolution and pooling
  int from = 0;                             // `add`: the values that are added, 0 being the network's inputs
  int offset = 0;                           // of the first weight in theta
  double input_unit = 1.0;                  // dense: a power of two; inputs are rounded to multiples of it

  bool has_weights() const noexcept { return kind == LayerKind::dense || kind == LayerKind::conv; }
  int patch() const noexcept { return kind == LayerKind::dense ? in.size() : window * window * in.channels; }
  int outputs() const noexcept { return kind == LayerKind::dense ? out.size() : out.channels; }
  int weights() const noexcept { return patch() * outputs(); }
};

enum class NetworkLikelihood : int { softmax, normal };

constexpr int panel = 16;  // outputs that are computed together

constexpr size_t whole_panels(int outputs) noexcept {
  return (static_cast<size_t>(outputs) + panel - 1) / panel * panel;
}

// Floats that the gradient of a convolution takes: weights padded to whole panels, and biases.
inline size_t filter_size(const Layer& layer) noexcept {
  const size_t out = static_cast<size_t>(layer.outputs());
  return (out * whole_panels(layer.patch()) + out + 15) / 16 * 16;
}

// Where the numbers of one microbatch are in the scratch memory of a thread, in floats. Every part begins at
// a multiple of sixteen.
struct NetworkLayout {
  std::vector<size_t> value, slope;  // outputs of each layer, the inputs being the first, and slopes in them
  std::vector<size_t> forward, backward;  // packed weights of each layer
  std::vector<size_t> gradient;           // of a convolution's weights and biases, record by record
  std::vector<size_t> input, output;      // sixteen-bit factors of a dense layer
  size_t patches = 0, patch_slopes = 0;   // of one record
  size_t row = 0;                         // one record's factors, and sixteen outputs
  size_t total = 0;
};

// Each entry of an outer product is below this bound, so that sums over a microbatch fit into 32 bits.
constexpr double largest_network_integer = 0x1p24;
constexpr int most_records = 64, few_records = 8;  // in a microbatch, without and with convolutions

struct NetworkModel : OwnModel {
  std::vector<Layer> layers;
  NetworkLikelihood likelihood;
  double sigma = 1.0;
  int microbatch = most_records;
  NetworkLayout layout{};

  int inputs() const noexcept { return layers.front().in.size(); }
  int outputs() const noexcept { return layers.back().out.size(); }
};

// Places everything that the kernels keep for one microbatch.
inline NetworkLayout layout_of(const NetworkModel& net) {
  NetworkLayout at;
  size_t end = 0;
  const auto room = [&](size_t floats) {
    const size_t begin = end;
    end += (floats + 15) / 16 * 16;
    return begin;
  };
  const size_t m = static_cast<size_t>(net.microbatch);
  at.value.push_back(room(m * whole_panels(net.inputs())));
  at.slope.push_back(room(m * whole_panels(net.inputs())));
  size_t patches = 0, widest = 0;
  for (const Layer& layer : net.layers) {
    const size_t in = static_cast<size_t>(layer.patch()), out = static_cast<size_t>(layer.outputs());
    const bool conv = layer.kind == LayerKind::conv, dense = layer.kind == LayerKind::dense;
    at.value.push_back(room(m * whole_panels(layer.out.size())));
    at.slope.push_back(room(m * whole_panels(layer.out.size())));
    at.forward.push_back(room(layer.has_weights() ? (in + 1) * whole_panels(layer.outputs()) : 0));
    at.backward.push_back(
        room(layer.has_weights() && &layer != &net.layers.front() ? out * whole_panels(layer.patch()) : 0));
    at.gradient.push_back(room(conv ? m * filter_size(layer) : 0));
    at.input.push_back(room(dense ? m * whole_panels(layer.patch()) / 2 : 0));
    at.output.push_back(room(dense ? m * whole_panels(layer.outputs()) / 2 : 0));
    if (conv)
      patches = std::max(patches, static_cast<size_t>(layer.out.positions()) *
                                      whole_panels(std::max(layer.patch(), layer.outputs())));
    widest = std::max(widest, whole_panels(std::max(layer.in.size(), layer.out.size())));
  }
  at.patches = room(patches);
  at.patch_slopes = room(patches);
  at.row = room(2 * widest);
  at.total = end;
  return at;
}

}  // namespace pydpmc
