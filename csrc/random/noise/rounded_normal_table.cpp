// The compiler computes this table in integers; docs/privacy/rounded_normal.md bounds every rounding.
#include "random/noise/rounded_normal_table.hpp"

namespace pydpmc {

namespace {

using Table = RoundedNormalTable;
using Wide = unsigned __int128;

constexpr int fixed_bits = 120;
constexpr Wide one = Wide{1} << fixed_bits;
constexpr Wide column_weight = Wide{1} << 64;
constexpr int total_bits = 64 + Table::columns_log2;

struct Densities {
  Wide ratio[Table::bins];  // f(upper edge) / f(lower edge)
  Wide lower[Table::bins + 1];
  Wide sum;  // the sum of f(lower edge) over all bins
};

struct Weights {
  Wide of[Table::pieces];
};

// For factors of at most `one`; the result is less than 2 units below the exact product.
constexpr Wide multiply(Wide a, Wide b) {
  constexpr int half = fixed_bits / 2;
  constexpr Wide low = (Wide{1} << half) - 1;
  return (a >> half) * (b >> half) + (((a >> half) * (b & low) + (a & low) * (b >> half)) >> half);
}

constexpr Wide exp_minus_power_of_two(int exponent) {
  Wide sum = one, term = one;
  for (unsigned i = 1; term != 0; ++i) {
    term = (term >> exponent) / i;
    sum = i % 2 == 1 ? sum - term : sum + term;
  }
  return sum;
}

// With h = 2^-bins_per_unit_log2, f((j + 1) h) / f(j h) = exp(-h^2/2) exp(-h^2)^j.
constexpr Densities densities() {
  constexpr int h_squared = 2 * Table::bins_per_unit_log2;
  const Wide step = exp_minus_power_of_two(h_squared);
  Densities d{};
  Wide ratio = exp_minus_power_of_two(h_squared + 1);
  d.lower[0] = one;
  for (std::size_t j = 0; j < Table::bins; ++j) {
    d.sum += d.lower[j];
    d.ratio[j] = ratio;
    d.lower[j + 1] = multiply(d.lower[j], ratio);
    ratio = multiply(ratio, step);
  }
  return d;
}

// part / whole in units of 2^-bits, rounded to nearest, for part < whole < 2^127.
constexpr Wide fraction(Wide part, Wide whole, int bits) {
  Wide quotient = 0;
  for (int i = 0; i <= bits; ++i) {
    part *= 2;
    quotient *= 2;
    if (part >= whole) part -= whole, ++quotient;
  }
  return (quotient + 1) / 2;
}

// The weights sum to 2^total_bits exactly: the first rectangle takes the remainder of the rounding.
constexpr Weights piece_weights(const Densities& d) {
  Weights w{};
  Wide left = Wide{1} << total_bits;
  for (std::size_t j = 0; j < Table::bins; ++j) {
    w.of[2 * j] = fraction(d.lower[j + 1], d.sum, total_bits);
    w.of[2 * j + 1] = fraction(d.lower[j] - d.lower[j + 1], d.sum, total_bits);
    left -= w.of[2 * j] + w.of[2 * j + 1];
  }
  w.of[0] += left;
  return w;
}

// Vose's construction. The integers have the right sum, so the last columns are exactly full.
constexpr void fill_columns(Table& table, Weights w) {
  std::uint16_t part_full[Table::columns]{}, full[Table::columns]{};
  std::size_t parts = 0, fulls = 0;
  for (std::size_t c = 0; c < Table::columns; ++c)
    (w.of[c] < column_weight ? part_full[parts++] : full[fulls++]) = static_cast<std::uint16_t>(c);
  while (parts > 0) {
    const std::uint16_t column = part_full[--parts], donor = full[fulls - 1];
    table.threshold[column] = static_cast<std::uint64_t>(w.of[column]);
    table.alias[column] = donor;
    w.of[donor] -= column_weight - w.of[column];
    if (w.of[donor] < column_weight) part_full[parts++] = donor, --fulls;
  }
  while (fulls > 0) {
    const std::uint16_t column = full[--fulls];
    table.threshold[column] = 0;
    table.alias[column] = column;
  }
}

constexpr Table build() {
  const Densities d = densities();
  Table table{};
  for (std::size_t j = 0; j < Table::bins; ++j) {
    const Wide twice = (one - d.ratio[j]) >> (fixed_bits - Table::drop_bits - 1);
    table.drop[j] = static_cast<std::uint64_t>((twice + 1) / 2);
  }
  fill_columns(table, piece_weights(d));
  for (std::size_t c = 0; c < Table::columns; ++c)
    table.head_and_alias[c] = static_cast<std::uint32_t>(
        table.threshold[c] >> Table::tail_bits << Table::columns_log2 | table.alias[c]);
  return table;
}

}  // namespace

constinit const RoundedNormalTable rounded_normal_table = build();

}  // namespace pydpmc
