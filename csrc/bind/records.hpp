// Makes records and models from Python's arguments: checks shapes and names, never values.
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
#include "models/facts.hpp"

namespace pydpmc {

using Array = pybind11::array_t<double, pybind11::array::c_style>;
using RowsArray = pybind11::array;                                                   // of any storage type
using Starts = std::optional<pybind11::array_t<int64_t, pybind11::array::c_style>>;  // first rows of groups

inline void require(bool condition, const char* message) {
  if (!condition) throw std::invalid_argument(message);
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

// Rows with one-hot blocks as codes, the columns of the uncoded features, and the number of codes.
// pydpmc/data/one_hot.py makes valid codes; checking them here would take a pass over all rows.
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

// |x|^2 of every row, from a separate array or from a column of the rows.
using Squares = std::optional<pybind11::array_t<double, 0>>;

inline RowSquares squares_of_rows(const Squares& squares, int64_t rows) {
  if (!squares) return {};
  constexpr pybind11::ssize_t size = sizeof(double);
  require(squares->ndim() == 1 && squares->size() == rows, "squares needs one entry per row");
  require(squares->strides(0) > 0 && squares->strides(0) % size == 0 &&
              reinterpret_cast<uintptr_t>(squares->data()) % alignof(double) == 0,
          "squares needs aligned entries");
  return {squares->data(), squares->strides(0) / size};
}

// How often each row counts. Data bounds the values; one that is not a number voids its record.
using Weights = std::optional<Array>;

inline RowWeights weights_of_rows(const Weights& weights, int64_t rows) {
  if (!weights) return {};
  require(weights->ndim() == 1 && weights->size() == rows, "weights needs one entry per row");
  return {weights->data()};
}

inline int classes_of(double constant) {
  require(constant >= 2 && constant <= 65536 && constant == std::floor(constant),
          "classes must be a whole number from 2 to 65536");
  return static_cast<int>(constant);
}

inline ModelSpec model_of(const std::string& name, const Records& records, bool intercept,
                          const std::array<double, 2>& constants, int dim) {
  const std::optional<ModelKind> kind = model_named(name);
  if (!kind) throw std::invalid_argument("unknown model: " + name);
  const Facts& model = facts_of(*kind);
  require(records.has_target || !model.has_target, "the model needs a target");
  require(records.storage != Storage::fixed16 || model.has_target, "fixed16 needs a model with a target");
  require(model.has_slopes ? dim >= records.columns + (intercept ? 1 : 0) : dim >= model.parameters,
          "theta is too short for the model");
  require(model.has_slopes || dim == model.parameters, "theta is too long for the model");
  const int predictors = model.has_classes ? classes_of(constants[0]) : 1;
  require(
      predictors == 1 || dim == static_cast<int64_t>(predictors) * (records.columns + (intercept ? 1 : 0)),
      "a softmax has a row of coefficients per class");
  return {*kind, records.columns, intercept, {constants[0], constants[1]}, dim, predictors};
}

// A clip so small that 2^bits / clip overflows would turn a ratio of zero into NaN.
inline void require_grid(double clip, int bits) {
  require(clip > 0 && std::isfinite(clip), "clip must be positive and finite");
  require(std::isfinite(std::ldexp(1.0, bits) / clip), "clip is too small for its grid");
}

}  // namespace pydpmc
