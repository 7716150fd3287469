// Sums of v v' over 64 records, the upper triangle, in registers: part of portable_passes.cpp.
#pragma once

#include <algorithm>

namespace {

#if defined(__AVX512F__)
constexpr int wide = 8, tall = 8;
#else
constexpr int wide = 4, tall = 4;
#endif
typedef double Vector __attribute__((vector_size(wide * 8), aligned(8), may_alias));

inline Vector at(const double* from) { return *reinterpret_cast<const Vector*>(from); }

// The products of columns v[j][record], a sum in every lane.
template <int rows, int columns, int records>
inline void add_lanes(const double* left, const double* right, Vector* to, int width) {
  Vector total[rows][columns];
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) total[i][j] = to[i * width + j];
  for (int r = 0; r < records; r += wide)
#pragma GCC unroll 4
    for (int i = 0; i < rows; ++i)
#pragma GCC unroll 4
      for (int j = 0; j < columns; ++j) total[i][j] += at(left + i * records + r) * at(right + j * records + r);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) to[i * width + j] = total[i][j];
}

// The same of rows v[record][j].
template <int vectors, int records>
inline void add_rows(const double* v, int i, int j, int width, double* to) {
  Vector total[tall][vectors];
  for (int r = 0; r < tall; ++r)
    for (int k = 0; k < vectors; ++k) total[r][k] = at(to + (i + r) * width + j + k * wide);
  for (int q = 0; q < records; ++q, v += width)
#pragma GCC unroll 8
    for (int r = 0; r < tall; ++r)
#pragma GCC unroll 2
      for (int k = 0; k < vectors; ++k) total[r][k] += v[i + r] * at(v + j + k * wide);
  for (int r = 0; r < tall; ++r)
    for (int k = 0; k < vectors; ++k) *reinterpret_cast<Vector*>(to + (i + r) * width + j + k * wide) = total[r][k];
}

inline int padded(int dim) { return (dim + 15) / 16 * 16; }

// to[i][j] += the sums of v_i v_j over 64 records, by columns, in every lane.
template <int records>
void add_products_by_columns(const double* v, int dim, Vector* to) {
  constexpr int across = wide == 8 ? 4 : 2;
  const int width = padded(dim);
  for (int i = 0; i < dim; i += 4)
    for (int j = i; j < dim; j += across)
      add_lanes<4, across, records>(v + i * records, v + j * records, to + i * width + j, width);
}

inline void add_sums_of_lanes(const Vector* from, int width, double* to) {
  for (int k = 0; k < width * width; ++k)
    for (int lane = 0; lane < wide; ++lane) to[k] += from[k][lane];
}

template <int records>
void add_products_by_rows(const double* v, int dim, double* to) {
  const int width = padded(dim);
  for (int i = 0; i < dim; i += tall) {
    int j = i;
    for (; j + 2 * wide <= width && j < dim; j += 2 * wide) add_rows<2, records>(v, i, j, width, to);
    for (; j < dim; j += wide) add_rows<1, records>(v, i, j, width, to);
  }
}

}  // namespace
