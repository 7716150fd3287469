// What every binding over records checks: shapes and names, never values.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <array>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>

#include "concepts.hpp"
#include "models/prior.hpp"

namespace pydpmc {

using Array = pybind11::array_t<double, pybind11::array::c_style>;
using RowsArray = pybind11::array;                                                   // of any of the storages
using Starts = std::optional<pybind11::array_t<int64_t, pybind11::array::c_style>>;  // of groups

inline void require(bool condition, const char* message) {
  if (!condition) throw std::invalid_argument(message);
}

struct NamedModel {
  const char* name;
  ModelKind kind;
  bool has_target;
};

inline const NamedModel& named_model(const std::string& name) {
  static const NamedModel models[] = {
      {"logistic_regression", ModelKind::logistic_regression, true},
      {"linear_regression", ModelKind::linear_regression, true},
      {"bernoulli_logit", ModelKind::bernoulli_logit, false},
      {"gaussian_mean", ModelKind::gaussian_mean, false},
      {"gaussian_mixture", ModelKind::gaussian_mixture, false},
      {"poisson_regression", ModelKind::poisson_regression, true},
      {"hinge_classifier", ModelKind::hinge_classifier, true},
      {"huber_regression", ModelKind::huber_regression, true},
      {"softmax_regression", ModelKind::softmax_regression, true},
  };
  for (const NamedModel& model : models)
    if (name == model.name) return model;
  throw std::invalid_argument("unknown model: " + name);
}

inline Storage storage_of(const RowsArray& rows) {
  if (pybind11::isinstance<pybind11::array_t<double>>(rows)) return Storage::float64;
  if (pybind11::isinstance<pybind11::array_t<float>>(rows)) return Storage::float32;
  if (pybind11::isinstance<pybind11::array_t<int16_t>>(rows)) return Storage::fixed16;
  throw std::invalid_argument("rows must be float64, float32 or int16");
}

inline void require_starts(const Starts& starts, int64_t n) {
  require(
      starts->ndim() == 1 && starts->size() >= 2 && starts->at(0) == 0 && starts->at(starts->size() - 1) == n,
      "group_start must run from 0 to the number of rows");
  for (pybind11::ssize_t g = 1; g < starts->size(); ++g)
    require(starts->at(g - 1) < starts->at(g), "group_start must increase");
}

inline Records records_of(const RowsArray& rows, int columns, bool has_target,
                          const Starts& starts = std::nullopt) {
  require(rows.ndim() == 2 && rows.shape(0) >= 1, "rows must be a two-dimensional array with a row");
  require(rows.flags() & pybind11::array::c_style, "rows must be contiguous");
  const Storage storage = storage_of(rows);
  const int target = !has_target ? 0 : storage == Storage::fixed16 ? 2 : 1;
  require(columns >= 1 && columns + target <= rows.shape(1), "rows are too short for columns");
  require(columns < 4 || (columns + 3) / 4 * 4 <= rows.shape(1), "rows must be padded to a multiple of four");
  if (starts) require_starts(starts, rows.shape(0));
  return {rows.data(),
          storage,
          rows.shape(0),
          columns,
          static_cast<int>(rows.shape(1)),
          has_target,
          starts ? starts->data() : nullptr,
          starts ? starts->size() - 1 : 0};
}

// Rows with one-hot blocks as codes, the columns of their numbers, and how many codes they have. That each
// code is a column, or the number of columns, is pydpmc/codes.py's to see to: a pass over all rows.
using Coded = std::optional<std::tuple<Array, pybind11::array_t<int32_t, pybind11::array::c_style>, int>>;

inline CodedRows coded_of(const Coded& coded, const Records& records) {
  if (!coded) return {};
  const auto& [rows, columns, codes] = *coded;
  const int numbers = static_cast<int>(columns.size()),
            padded = numbers < 4 ? numbers : (numbers + 3) / 4 * 4;
  require(rows.ndim() == 2 && rows.shape(0) == records.n && columns.ndim() == 1 && numbers >= 1 &&
              numbers <= records.columns && codes >= 4 && codes % 4 == 0 && records.has_target &&
              !records.group_start && padded + 3 + codes / 4 <= rows.shape(1),
          "coded rows do not belong to these records");
  for (int j = 0; j < numbers; ++j)
    require(columns.at(j) >= 0 && columns.at(j) < records.columns,
            "coded rows name a column that is not there");
  return {rows.data(), static_cast<int>(rows.shape(1)), numbers, codes, padded, columns.data()};
}

inline int classes_of(double constant) {
  require(constant >= 2 && constant <= 65536 && constant == std::floor(constant),
          "classes must be a whole number from 2 to 65536");
  return static_cast<int>(constant);
}

inline ModelSpec model_of(const std::string& name, const Records& records, bool intercept,
                          const std::array<double, 2>& constants, int dim) {
  const NamedModel& model = named_model(name);
  require(records.has_target || !model.has_target, "the model needs a target");
  require(records.storage != Storage::fixed16 || model.has_target, "fixed16 needs a model with a target");
  const bool linear = model.kind != ModelKind::bernoulli_logit && model.kind != ModelKind::gaussian_mixture;
  require(dim >= 1 && (!linear || dim >= records.columns + (intercept ? 1 : 0)),
          "theta is too short for the model");
  require(model.kind != ModelKind::gaussian_mixture || dim == 2, "the mixture has two parameters");
  const int predictors = model.kind == ModelKind::softmax_regression ? classes_of(constants[0]) : 1;
  require(
      predictors == 1 || dim == static_cast<int64_t>(predictors) * (records.columns + (intercept ? 1 : 0)),
      "a softmax has a row of coefficients per class");
  return {model.kind, records.columns, intercept, {constants[0], constants[1]}, dim, predictors};
}

// A clip so small that 2^bits / clip overflows would turn a ratio of zero into NaN.
inline void require_grid(double clip, int bits) {
  require(clip > 0 && std::isfinite(clip), "clip must be positive and finite");
  require(std::isfinite(std::ldexp(1.0, bits) / clip), "clip is too small for its grid");
}

inline Prior prior_of(const Array& table, int dim) {
  require(table.ndim() == 2 && table.shape(0) == dim && table.shape(1) == 5,
          "prior must have a row per parameter");
  Prior prior;
  for (pybind11::ssize_t j = 0; j < dim; ++j)
    prior.push_back({static_cast<PriorKind>(static_cast<int>(table.at(j, 0))), table.at(j, 1), table.at(j, 2),
                     table.at(j, 3), table.at(j, 4) != 0.0});
  return prior;
}

// The length of theta, if starts and draws fit together.
inline int require_chains(const Array& init, const Array& draws, int64_t warmup, int64_t thin) {
  require(init.ndim() == 2 && init.shape(0) >= 1 && init.shape(0) < (1 << 24), "init must be (chains, dim)");
  require(draws.ndim() == 3 && draws.shape(0) == init.shape(0) && draws.shape(2) == init.shape(1),
          "draws must be (chains, kept, dim)");
  require(warmup >= 0 && thin >= 1, "warmup must be at least 0 and thin at least 1");
  return static_cast<int>(init.shape(1));
}

}  // namespace pydpmc
