// Rows of records in whatever they are stored in, and which of them a loop visits.
#pragma once

#include "concepts.hpp"
#include "models/all.hpp"
#include "simd/lanes.hpp"

PYDPMC_ISA_BEGIN

template <class Scalar>
using Rows = const Scalar* [lanes];

// The value of one stored number.
template <class Scalar>
constexpr double unit_of = 1.0;
template <>
inline constexpr double unit_of<int16_t> = fixed16_step;

template <class Scalar>
PYDPMC_INLINE double target_of(const Scalar* row, int columns) noexcept {
  return static_cast<double>(row[columns]);
}

PYDPMC_INLINE double target_of(const int16_t* row, int columns) noexcept {
  float y;
  std::memcpy(&y, row + columns, sizeof y);
  return static_cast<double>(y);
}

template <class Scalar>
struct Table {
  const Scalar* first;
  int64_t stride;
  int columns;

  PYDPMC_INLINE const Scalar* row(int64_t i) const noexcept { return first + i * stride; }
};

template <class Scalar>
inline Table<Scalar> table_of(const Records& records) noexcept {
  return {static_cast<const Scalar*>(records.rows), records.stride, records.columns};
}

template <class Call>
inline auto with_storage(const Records& records, const Call& call) noexcept {
  switch (records.storage) {
    case Storage::float64:
      return call(table_of<double>(records));
    case Storage::float32:
      return call(table_of<float>(records));
    case Storage::fixed16:
      return call(table_of<int16_t>(records));
  }
  __builtin_unreachable();
}

// Calls call(model, table) with the types of both.
template <class Call>
inline auto with_types(const ModelSpec& spec, const Records& records, const Call& call) noexcept {
  return with_model(spec.kind, [&](auto model) {
    return with_storage(records, [&](const auto& table) { return call(model, table); });
  });
}

// Rows i .. i+count-1; the lanes beyond repeat the first row and must be dropped by the caller.
template <class Scalar>
PYDPMC_INLINE void consecutive_rows(const Table<Scalar>& table, int64_t i, int count,
                                    Rows<Scalar>& row) noexcept {
  for (int k = 0; k < lanes; ++k) row[k] = table.row(i + (k < count ? k : 0));
}

// Prefetches rows of 64 B to 1 kB in a pass over all records, `ahead` bytes from here; beyond the end it has
// no effect. Shorter rows arrive faster than they are processed, and for longer ones the hardware prefetcher
// is better.
template <class Scalar>
PYDPMC_INLINE void fetch_ahead(const Table<Scalar>& table, const Scalar* row, int64_t ahead = 4096) noexcept {
  constexpr int64_t shortest = 64, longest = 1024, line = 64;  // bytes
  const int64_t size = table.stride * static_cast<int64_t>(sizeof(Scalar));
  if (size < shortest || size > longest) return;
  const char* first = reinterpret_cast<const char*>(row) + ahead;
  for (int64_t at = 0; at < lanes * size; at += line) __builtin_prefetch(first + at, 0, 2);
}

template <class Scalar>
PYDPMC_INLINE void fetch_consecutive(const Table<Scalar>& table, int64_t i) noexcept {
  fetch_ahead(table, table.row(i));
}

PYDPMC_INLINE int rest_of(int64_t i, int64_t end) noexcept {
  return static_cast<int>(end - i < lanes ? end - i : lanes);
}

PYDPMC_ISA_END
