// Sums of doubles without rounding, so that neither order nor cuts change a bit (Neal 2015). A double is a
// whole multiple of 2^-1074, which is added in digits of base 2^32; each digit is an int64, so that 2^31
// doubles fit.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace pydpmc {

constexpr size_t exact_digits = 66;               // hold every finite double
constexpr size_t exact_width = exact_digits + 1;  // the last one counts values that are not finite
constexpr uint64_t exact_digit = 0xffffffff;

// A sum whose digits are zero but for first .. last, rounded once; NaN if it is too large, or if one of its
// terms was not finite.
inline double rounded(const int64_t* sum, size_t first, size_t last) noexcept {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  if (sum[exact_digits] != 0) return none;
  int64_t carry = 0;
  for (size_t k = first; k <= last; ++k) carry = (sum[k] + carry) >> 32;
  const bool negative = carry < 0;
  uint64_t digit[exact_digits + 5];  // each below 2^32; two that are zero come first
  size_t size = 2;
  digit[0] = digit[1] = 0;
  carry = 0;
  for (size_t k = first; k <= last; ++k) {
    const int64_t here = (negative ? -sum[k] : sum[k]) + carry;
    digit[size++] = static_cast<uint64_t>(here) & exact_digit;
    carry = here >> 32;
  }
  for (; carry != 0; carry >>= 32) digit[size++] = static_cast<uint64_t>(carry) & exact_digit;
  while (size > 2 && digit[size - 1] == 0) --size;
  if (size == 2) return 0.0;
  // The highest 64 bits; of what lies below it matters only whether it is zero.
  const uint64_t high = digit[size - 1] << 32 | digit[size - 2];
  const int shift = std::countl_zero(high);
  const uint64_t next = digit[size - 3] << 32 >> (32 - shift);
  uint64_t whole = high << shift | next >> 32, rest = next & exact_digit;
  for (size_t k = 0; k < size - 3; ++k) rest |= digit[k];
  whole |= rest != 0;
  const int place = 32 * (static_cast<int>(first + size) - 4) - shift;
  const double found = std::ldexp(static_cast<double>(whole), place - 1074);
  if (found > std::numeric_limits<double>::max()) return none;
  return negative ? -found : found;
}

class ExactSums {
 public:
  explicit ExactSums(size_t width) : width_(width), digits_(width * exact_width) {}

  void clear() noexcept {
    for (size_t j = 0; j < width_; ++j) {
      for (size_t k = first_; k <= last_; ++k) of(j)[k] = 0;
      of(j)[exact_digits] = 0;
    }
    first_ = exact_digits - 1;
    last_ = 0;
  }

  void add(const double* values) noexcept {
    for (size_t j = 0; j < width_; ++j) add(of(j), values[j]);
  }

  void add(const ExactSums& other) noexcept {
    first_ = std::min(first_, other.first_);
    last_ = std::max(last_, other.last_);
    for (size_t j = 0; j < width_; ++j) {
      for (size_t k = other.first_; k <= other.last_; ++k) of(j)[k] += other.of(j)[k];
      of(j)[exact_digits] += other.of(j)[exact_digits];
    }
  }

  void round(double* out) const noexcept {
    for (size_t j = 0; j < width_; ++j) out[j] = rounded(of(j), first_, last_);
  }

  // exact_width digits for each sum.
  const std::vector<int64_t>& digits() const noexcept { return digits_; }

 private:
  int64_t* of(size_t j) noexcept { return digits_.data() + j * exact_width; }
  const int64_t* of(size_t j) const noexcept { return digits_.data() + j * exact_width; }

  void add(int64_t* sum, double value) noexcept {
    constexpr uint64_t hidden = uint64_t{1} << 52;
    const uint64_t bits = std::bit_cast<uint64_t>(value), exponent = bits >> 52 & 0x7ff;
    if (exponent == 0x7ff) {
      ++sum[exact_digits];
      return;
    }
    const uint64_t mantissa = (bits & (hidden - 1)) | (exponent == 0 ? 0 : hidden);
    const uint64_t place = exponent == 0 ? 0 : exponent - 1, shift = place & 31;
    const size_t k = place >> 5;
    const int64_t sign = -static_cast<int64_t>(bits >> 63);  // 0 or -1
    const auto with_sign = [&](uint64_t x) { return (static_cast<int64_t>(x) ^ sign) - sign; };
    const uint64_t low = mantissa << shift, high = mantissa >> (63 - shift) >> 1;
    sum[k] += with_sign(low & exact_digit);
    sum[k + 1] += with_sign(low >> 32);
    sum[k + 2] += with_sign(high);
    first_ = std::min(first_, k);
    last_ = std::max(last_, k + 2);
  }

  size_t width_, first_ = exact_digits - 1, last_ = 0;  // which digits may differ from zero
  std::vector<int64_t> digits_;
};

}  // namespace pydpmc
