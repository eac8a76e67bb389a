// Quotients and remainders of integers. The ISA leaves a division by zero undefined; NVIDIA's
// compiler produces all ones for the quotient and for the remainder, and so does this. INT_MIN / -1
// is INT_MIN, remainder 0.
#include <bit>

#include "plugins/backends/cpu/machine/operations/all_forms.hpp"
#include "plugins/backends/cpu/machine/operations/integers.hpp"

namespace krl::machine {
namespace {

// Divides numbers below 2^32 by way of double, which has vectors: a quotient that is not an integer
// differs from the next one by at least 1/b, more than its rounding. Adding 2^52 leaves an integer
// in the low bits of the number.
double number(std::uint32_t a) {
  return std::bit_cast<double>(0x4330000000000000u | std::uint64_t{a}) - 0x1p52;
}
std::uint32_t whole_quotient(std::uint32_t a, std::uint32_t b) {
  const double exact = number(a) / number(b);
  const double nearest = exact + 0x1p52;
  const auto bits = static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(nearest));
  return nearest - 0x1p52 > exact ? bits - 1 : bits;
}

template <class T>
T quotient(T a, T b) {
  if constexpr (sizeof(T) == 8) {
    if (b == 0) return static_cast<T>(-1);
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return T{0} - a;
    }
    return a / b;
  } else {
    const bool negative = std::is_signed_v<T> && (a < 0) != (b < 0);
    const auto size_a = static_cast<std::uint32_t>(a < 0 ? 0 - a : a);
    const auto size_b = static_cast<std::uint32_t>(b < 0 ? 0 - b : b);
    const std::uint32_t size = whole_quotient(size_a, b == 0 ? 1 : size_b);
    return static_cast<T>(b == 0 ? ~0u : negative ? 0 - size : size);
  }
}

template <class T>
T remainder(T a, T b) {
  using Unsigned = std::make_unsigned_t<T>;
  const auto product = static_cast<Unsigned>(static_cast<Unsigned>(quotient(a, b)) *
                                             std::uint64_t{static_cast<Unsigned>(b)});
  return static_cast<T>(b == 0 ? static_cast<Unsigned>(-1)
                               : static_cast<Unsigned>(static_cast<Unsigned>(a) - product));
}

template <class T>
void add_forms(Forms& forms) {
  forms.add<quotient<T>>(InstructionClass::kDivide, {"div." + integer_name<T>()});
  forms.add<remainder<T>>(InstructionClass::kDivide, {"rem." + integer_name<T>()});
}

}  // namespace

void add_division_forms(Forms& forms) {
  for_each_integer_type([&]<class T>(T) { add_forms<T>(forms); });
}

}  // namespace krl::machine
