// Elementary functions to about 1e-11, in double and without branches, and the errors that NVIDIA
// allows the approximate instructions.
#pragma once

#include <bit>
#include <cstdint>

namespace krl::machine {

// `exact`, off by `error` up or down, by a hash of the operand's bits: where NVIDIA allows an
// instruction more than two units in the last place, a kernel must be right with any function that
// is as good as that.
inline double off_by(double exact, double error, std::uint32_t operand) {
  const std::uint64_t sign = (operand * 0x9e3779b1u) & 0x80000000u;
  return exact + std::bit_cast<double>(std::bit_cast<std::uint64_t>(error) ^ sign << 32);
}

// Rounds to the nearest integer. |x| < 2^51; NaN stays.
inline double nearest_integer(double x) {
  constexpr double kShift = 0x1.8p52;  // leaves no bits for a fraction
  return x + kShift - kShift;
}

// Σ coefficients[i] x^i
template <std::size_t count>
inline double polynomial(double x, const double (&coefficients)[count]) {
  double result = coefficients[count - 1];
#pragma GCC unroll 16
  for (std::size_t i = count - 1; i > 0; --i) result = result * x + coefficients[i - 1];
  return result;
}

// 2^x. By the series of e^x up to x^9, |x| <= ln(2) / 2: 2e-12.
inline double exp2(double x) {
  constexpr double kSeries[] = {1.0,       1.0,       1.0 / 2,    1.0 / 6,     1.0 / 24,
                                1.0 / 120, 1.0 / 720, 1.0 / 5040, 1.0 / 40320, 1.0 / 362880};
  constexpr double kLn2 = 0x1.62e42fefa39efp-1;
  const double above = x < -1000.0 ? -1000.0 : x;
  const double limited = above > 1000.0 ? 1000.0 : above;
  const double whole = nearest_integer(limited);
  const double fraction = polynomial((limited - whole) * kLn2, kSeries);
  const auto exponent = std::bit_cast<std::uint64_t>(whole + (0x1p52 + 1023.0)) << 52;
  const double scaled = fraction * std::bit_cast<double>(exponent);
  return x != x ? x : scaled;
}

// log2(x) of finite x > 0 that is not subnormal. By atanh, |s| <= 0.172: 2e-13.
inline double log2(double x) {
  constexpr double kSeries[] = {2.0, 2.0 / 3, 2.0 / 5, 2.0 / 7, 2.0 / 9, 2.0 / 11, 2.0 / 13};
  constexpr double kLog2E = 0x1.71547652b82fep+0;
  const auto bits = std::bit_cast<std::uint64_t>(x);
  constexpr std::uint64_t kRootHalf = 0x3fe6a09e667f3bcdu;  // the mantissa's range begins there
  const std::uint64_t exponent = (bits - kRootHalf) & 0xfff0000000000000u;
  const double mantissa = std::bit_cast<double>(bits - exponent);
  const double s = (mantissa - 1) / (mantissa + 1);
  // The exponent, sign-extended, as a number: 2^52 + 2^51 + n has it in its low bits.
  const std::uint64_t biased = (exponent >> 52 ^ 0x800u) | 0x4330000000000000u;
  const double whole = std::bit_cast<double>(biased) - (0x1p52 + 2048.0);
  return whole + s * polynomial(s * s, kSeries) * kLog2E;
}

// sin(2π x). By the series up to x^17 over a quarter: 4e-13. |x| < 2^50.
inline double sin_of_turns(double x) {
  constexpr double kSeries[] = {1.0,
                                -1.0 / 6,
                                1.0 / 120,
                                -1.0 / 5040,
                                1.0 / 362880,
                                -1.0 / 39916800,
                                1.0 / 6227020800,
                                -1.0 / 1307674368000,
                                1.0 / 355687428096000};
  constexpr double kTurn = 0x1.921fb54442d18p+2;
  const double halves = nearest_integer(2 * x);
  const double angle = (x - halves / 2) * kTurn;
  const double sine = angle * polynomial(angle * angle, kSeries);
  const double odd = halves - 2 * nearest_integer(halves / 2);  // -1, 0 or 1
  return odd != 0 ? -sine : sine;
}

// Uses the exponential function; near 0, where that loses digits, the series.
inline double tanh(double x) {
  constexpr double kSeries[] = {1.0, -1.0 / 3, 2.0 / 15, -17.0 / 315};
  constexpr double kTwoLog2E = 0x1.71547652b82fep+1;
  const double near = x * polynomial(x * x, kSeries);
  const double far = 1 - 2 / (exp2(x * kTwoLog2E) + 1);
  return x < 0x1p-5 && x > -0x1p-5 ? near : far;
}

}  // namespace krl::machine
