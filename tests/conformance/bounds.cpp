// The error bounds of the PTX ISA, "Floating Point Instructions": max relative or absolute errors.
// Both the GPU and the machine may be that far off.
#include <bit>
#include <cmath>

#include "plugins/backends/cpu/machine/operations/values.hpp"
#include "tests/conformance/record.hpp"

namespace krl::conformance {
namespace {

struct Bound {
  std::string_view form;  // what its name begins with
  std::string_view type;  // what its name ends with
  double relative = 0, absolute = 0;
};
constexpr Bound kBounds[] = {
    {"rcp.", "f64", 0x1p-20},          {"rsqrt.", "f64", 0x1p-20},
    {"rcp.", "f32", 0x1p-23},          {"rsqrt.", "f32", 0x1.2p-23},
    {"sqrt.", "f32", 0x1p-23},         {"div.", "f32", 0x1p-22},
    {"ex2.", ".f32", 0x1.7p-23},       {"lg2.", "f32", 0x1p-22, 0x1p-22},
    {"sin.", "f32", 0, 0x1.7p-21},     {"cos.", "f32", 0, 0x1.7p-21},
    {"tanh.", ".f32", 0x1p-11},        {"ex2.", "bf16", 0x1p-7},
    {"ex2.", "f16", 0x1.2p-10},        {"tanh.", "bf16", 0, 0x1p-8},
    {"tanh.", "f16", 0, 0x1.02p-11},   {"ex2.", "bf16x2", 0x1p-7},
    {"ex2.", "f16x2", 0x1.2p-10},      {"tanh.", "bf16x2", 0, 0x1p-8},
    {"tanh.", "f16x2", 0, 0x1.02p-11},
};

const Bound* bound_of(std::string_view form) {
  const std::string_view name = form.substr(0, form.find(' '));
  for (const Bound& bound : kBounds) {
    if (name.starts_with(bound.form) && name.ends_with(bound.type)) return &bound;
  }
  return nullptr;
}

double value_of(Letter letter, std::uint64_t bits) {
  const auto half = static_cast<std::uint16_t>(bits);
  switch (letter) {
    case 'f':
      return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    case 'e':
      return machine::value_of(machine::Half{half});
    case 'c':
      return machine::value_of(machine::BFloat{half});
    default:
      return std::bit_cast<double>(bits);
  }
}
// The rounding of a result, once more than the bound: of subnormals it is all there is.
double step_of(Letter letter, double x) {
  const int digits = letter == 'f' ? 24 : letter == 'e' ? 11 : letter == 'c' ? 8 : 53;
  const int least = letter == 'e' ? -14 : letter == 'g' ? -1022 : -126;
  const int exponent = x == 0 ? least : std::max(std::ilogb(x), least);
  return std::ldexp(1.0, exponent - digits + 1);
}

}  // namespace

bool within_bounds(const std::string& form, Letter letter, std::uint64_t one, std::uint64_t other) {
  if (letter == 'E' || letter == 'C') {
    const Letter half = letter == 'E' ? 'e' : 'c';
    return within_bounds(form, half, one & 0xffff, other & 0xffff) &&
           within_bounds(form, half, one >> 16 & 0xffff, other >> 16 & 0xffff);
  }
  const Bound* bound = bound_of(form);
  const double a = value_of(letter, one), b = value_of(letter, other);
  if (bound == nullptr) return false;
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (a == b) return true;
  if (std::isinf(a) || std::isinf(b)) return false;
  const double allowed = std::max(bound->relative * std::abs(a), bound->absolute);
  return std::abs(a - b) <= 2 * allowed + step_of(letter, a);
}

}  // namespace krl::conformance
