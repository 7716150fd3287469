// Binds Network, from which a Target is made, and products of matrices with independent rows.
#include "bind/network.hpp"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <array>
#include <cmath>
#include <vector>

#include "bind/target.hpp"
#include "threads/parallel.hpp"
#include "threads/workspaces.hpp"

namespace py = pybind11;

namespace pydpmc {

namespace {

constexpr size_t most_network_layers = 256;
constexpr int largest_size = 1 << 24;

// Kind, (height, width, channels) of inputs and outputs, window, stride, padding, from, and input_unit.
using LayerArguments = std::tuple<int, std::array<int, 3>, std::array<int, 3>, int, int, int, int, double>;

Shape shape_of(const std::array<int, 3>& given) {
  const Shape shape{given[0], given[1], given[2]};
  for (int side : given) require(side >= 1 && side <= largest_size, "a layer has an empty side");
  require(static_cast<double>(given[0]) * given[1] * given[2] <= largest_size, "a layer is too large");
  return shape;
}

void require_layer(const Layer& layer) {
  const bool windowed = layer.kind == LayerKind::conv || layer.kind == LayerKind::max_pool ||
                        layer.kind == LayerKind::mean_pool;
  if (!windowed) {
    const int size = layer.out.size();
    require(layer.kind == LayerKind::dense || layer.in.size() == size, "the layer must keep its size");
    const double one = 1.0 / layer.input_unit;
    require(one >= 1 && one <= 0x1p14 && std::ilogb(one) == std::log2(one),
            "input_unit must be a power of two between 2^-14 and 1");
    return;
  }
  require(layer.window >= 1 && layer.stride >= 1 && layer.padding >= 0 && layer.padding < layer.window,
          "window and stride must be positive, and padding less than the window");
  const auto places = [&](int side) { return (side + 2 * layer.padding - layer.window) / layer.stride + 1; };
  require(layer.in.height + 2 * layer.padding >= layer.window &&
              layer.in.width + 2 * layer.padding >= layer.window &&
              layer.out.height == places(layer.in.height) && layer.out.width == places(layer.in.width),
          "the layer's outputs have another shape");
  require(layer.kind == LayerKind::conv || layer.in.channels == layer.out.channels,
          "pooling must keep the channels");
}

std::shared_ptr<BoundNetwork> make_network(const std::vector<LayerArguments>& given,
                                           const std::string& likelihood, double sigma) {
  require(!given.empty() && given.size() <= most_network_layers, "a network has 1 to 256 layers");
  require(likelihood == "softmax" || likelihood == "normal", "likelihood must be softmax or normal");
  require(sigma > 0 && std::isfinite(sigma), "sigma must be positive and finite");
  auto network = std::make_shared<BoundNetwork>();
  NetworkModel& model = network->model;
  int64_t dim = 0;
  for (const auto& [kind, in, out, window, stride, padding, from, unit] : given) {
    require(kind >= 0 && kind <= static_cast<int>(LayerKind::add), "unknown kind of layer");
    const Layer layer{
        static_cast<LayerKind>(kind), shape_of(in), shape_of(out), window, stride, padding, from,
        static_cast<int>(dim),        unit};
    require_layer(layer);
    const size_t before = model.layers.size();
    require(before == 0 || model.layers.back().out.size() == layer.in.size(), "layers do not fit together");
    require(layer.kind != LayerKind::add ||
                (from >= 0 && static_cast<size_t>(from) < before &&
                 (from == 0 ? model.inputs() : model.layers[static_cast<size_t>(from - 1)].out.size()) ==
                     layer.out.size()),
            "`from` must name earlier values of the same size");
    if (layer.kind == LayerKind::conv) model.microbatch = few_records;
    if (layer.has_weights()) dim += static_cast<int64_t>(layer.patch()) * layer.outputs() + layer.outputs();
    require(dim <= largest_size * 4, "the network has too many parameters");
    model.layers.push_back(layer);
  }
  model.likelihood = likelihood == "softmax" ? NetworkLikelihood::softmax : NetworkLikelihood::normal;
  require(model.likelihood == NetworkLikelihood::softmax ? model.outputs() >= 2 : model.outputs() == 1,
          "softmax needs at least two outputs, normal needs one");
  model.sigma = sigma;
  model.largest_integer = largest_network_integer;
  model.layout = layout_of(model);
  model.workspace = model.layout.total / 2;
  network->dim = static_cast<int>(dim);
  return network;
}

Array network_log_likelihoods(const TargetHandle& target, const std::vector<double>& theta) {
  const ModelSpec& model = target->target().model;
  require(model.own && static_cast<int>(theta.size()) == model.dim, "a network, and theta of its length");
  std::vector<double> scratch(slopes_size(model));
  Array out(target->records().n);
  kernels_of(model).log_likelihoods(model, target->records(), theta.data(), scratch.data(), 0,
                                    target->records().n, out.mutable_data());
  return out;
}

using Index = py::array_t<uint32_t, py::array::c_style>;

py::array_t<int64_t> network_gradient_sum(const TargetHandle& target, const std::vector<double>& theta,
                                          double clip, double per_unit, const Index& index) {
  const ModelSpec& model = target->target().model;
  require(model.own && static_cast<int>(theta.size()) == model.dim, "a network, and theta of its length");
  require(clip * per_unit <= largest_network_integer, "the grid is too fine for a network");
  for (py::ssize_t i = 0; i < index.size(); ++i)
    require(index.at(i) < target->records().n, "index names a record that is not there");
  Workspaces workspaces(1, model);
  kernels_of(model).gradient_sums(model, target->records(), theta.data(), workspaces.slopes(0),
                                  {index.data(), index.size()}, {clip, per_unit}, workspaces.sums(0));
  return py::array_t<int64_t>(model.dim, workspaces.sums(0));
}

using Floats = py::array_t<float, py::array::c_style>;

Floats independent_rows(const Floats& rows, const Floats& weights, int threads) {
  require(
      rows.ndim() == 2 && weights.ndim() == 2 && rows.shape(1) == weights.shape(0) && weights.shape(1) >= 1,
      "rows and weights do not fit");
  require(weights.shape(0) <= largest_size && weights.shape(1) <= largest_size && threads >= 1,
          "weights are too many");
  const int in = static_cast<int>(weights.shape(0)), out = static_cast<int>(weights.shape(1));
  const NetworkKernels& kernel = network_kernels();
  std::vector<float> packed(static_cast<size_t>(in) * whole_panels(out));
  kernel.pack(weights.data(), in, out, packed.data());
  Floats result({rows.shape(0), static_cast<py::ssize_t>(whole_panels(out))});
  const int64_t n = rows.shape(0);
  const float* from = rows.data();
  float* to = result.mutable_data();
  py::gil_scoped_release nogil;
  constexpr int64_t block = 1024;
  for_each((n + block - 1) / block, threads, [&](int, int64_t k) {
    const int64_t first = k * block, count = std::min(block, n - first);
    kernel.rows(from + first * in, count, in, packed.data(), out,
                to + first * static_cast<int64_t>(whole_panels(out)));
  });
  return result;
}

}  // namespace

}  // namespace pydpmc

void bind_network(py::module_& m) {
  using namespace pydpmc;
  py::class_<BoundNetwork, NetworkHandle>(m, "Network")
      .def(py::init(&make_network), py::arg("layers"), py::arg("likelihood"), py::arg("sigma"))
      .def_property_readonly("dim", [](const BoundNetwork& network) { return network.dim; });
  m.def("network_log_likelihoods", &network_log_likelihoods, py::arg("target"), py::arg("theta"),
        "For tests: the log-likelihood of every record, up to terms free of theta.");
  m.def("network_gradient_sum", &network_gradient_sum, py::arg("target"), py::arg("theta"), py::arg("clip"),
        py::arg("per_unit"), py::arg("index"),
        "For tests: the integer sum of the clipped gradients of a batch.");
  m.def(
      "independent_rows", &independent_rows, py::arg("rows"), py::arg("weights"), py::arg("threads") = 1,
      "rows @ weights in single precision, padded to a multiple of sixteen columns: each row by itself, in a "
      "fixed order.");
}
