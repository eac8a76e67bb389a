// f32 and f64 with correctly rounded results: add, sub, mul, fma, div, rcp, sqrt.
#include "plugins/backends/cpu/machine/operations/all_forms.hpp"

#include <cmath>

#include "plugins/backends/cpu/machine/operations/rounding.hpp"

namespace krl::machine {
namespace {

struct Sum {
  template <class T>
  static T of(T a, T b) {
    return a + b;
  }
};
struct Difference {
  template <class T>
  static T of(T a, T b) {
    return a - b;
  }
};
struct Product {
  template <class T>
  static T of(T a, T b) {
    return a * b;
  }
};
struct ProductSum {  // rounded once
  static float of(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
  static double of(double a, double b, double c) { return __builtin_fma(a, b, c); }
};
struct Quotient {
  template <class T>
  static T of(T a, T b) {
    return a / b;
  }
};
struct Reciprocal {
  template <class T>
  static T of(T a) {
    return 1 / a;
  }
};
struct Root {
  static float of(float a) { return __builtin_sqrtf(a); }
  static double of(double a) { return __builtin_sqrt(a); }
};

// True for functions whose subnormal results are exact. For others, .ftz depends on the unrounded
// result.
template <class Function>
constexpr bool kIsExactBelowNormal =
    std::is_same_v<Function, Sum> || std::is_same_v<Function, Difference> ||
    std::is_same_v<Function, Root>;

struct Mode {
  bool ftz = false, sat = false;
};
template <class Function, Mode mode, class... T>
float in_mode(T... x) {
  float result = Function::of((mode.ftz ? flushed(x) : x)...);
  if constexpr (mode.ftz) {
    result = kIsExactBelowNormal<Function>
                 ? flushed(result)
                 : flushed_if_tiny(Function::of(double{flushed(x)}...), result);
  }
  if constexpr (mode.sat) return saturated(result);
  return canonical(result);
}

struct RoundingName {
  const char* name;
  Rounding rounding;
};
constexpr RoundingName kDirected[] = {
    {".rz", Rounding::kToZero}, {".rm", Rounding::kDown}, {".rp", Rounding::kUp}};

// `name` + ".rn" + rest, the other directions, and, if `plain`, without any.
template <auto function>
void add_rounded(Forms& forms, InstructionClass kind, const std::string& name,
                 const std::string& rest, bool plain) {
  Form form = form_of<function>(kind);
  if (plain) forms.add(name + rest, form);
  forms.add(name + ".rn" + rest, form);
  form.run = lanewise_rounded<function>;
  for (const RoundingName& directed : kDirected) {
    form.setting = static_cast<std::uint8_t>(directed.rounding);
    forms.add(name + directed.name + rest, form);
  }
}

template <class Function, class... T>
void add_float(Forms& forms, InstructionClass kind, const std::string& name, bool plain) {
  add_rounded<in_mode<Function, Mode{false, false}, T...>>(forms, kind, name, ".f32", plain);
  add_rounded<in_mode<Function, Mode{true, false}, T...>>(forms, kind, name, ".ftz.f32", plain);
}
template <class Function, class... T>
void add_saturated(Forms& forms, const std::string& name, bool plain) {
  constexpr InstructionClass kind = InstructionClass::kFloat;
  add_rounded<in_mode<Function, Mode{false, true}, T...>>(forms, kind, name, ".sat.f32", plain);
  add_rounded<in_mode<Function, Mode{true, true}, T...>>(forms, kind, name, ".ftz.sat.f32", plain);
}

template <class Function, class... T>
double of_doubles(T... x) {
  return Function::of(x...);
}
template <class Function, class... T>
void add_double(Forms& forms, InstructionClass kind, const std::string& name, bool plain) {
  add_rounded<of_doubles<Function, T...>>(forms, kind, name, ".f64", plain);
}

template <class Function>
void add_binary(Forms& forms, const std::string& name) {
  add_float<Function, float, float>(forms, InstructionClass::kFloat, name, true);
  add_saturated<Function, float, float>(forms, name, true);
  add_double<Function, double, double>(forms, InstructionClass::kDouble, name, true);
}

}  // namespace

void add_float_forms(Forms& forms) {
  add_binary<Sum>(forms, "add");
  add_binary<Difference>(forms, "sub");
  add_binary<Product>(forms, "mul");
  for (const char* name : {"fma", "mad"}) {
    add_float<ProductSum, float, float, float>(forms, InstructionClass::kFloat, name, false);
    add_saturated<ProductSum, float, float, float>(forms, name, false);
    add_double<ProductSum, double, double, double>(forms, InstructionClass::kDouble, name, false);
  }
  add_float<Quotient, float, float>(forms, InstructionClass::kDivide, "div", false);
  add_double<Quotient, double, double>(forms, InstructionClass::kDoubleDivide, "div", false);
  add_float<Reciprocal, float>(forms, InstructionClass::kDivide, "rcp", false);
  add_double<Reciprocal, double>(forms, InstructionClass::kDoubleDivide, "rcp", false);
  add_float<Root, float>(forms, InstructionClass::kDivide, "sqrt", false);
  add_double<Root, double>(forms, InstructionClass::kDoubleDivide, "sqrt", false);
}

bool decode_floating(const ptx::Instruction& instruction, Operands& operands, Instruction* out) {
  static const Forms forms = [] {
    Forms all;
    add_float_forms(all);
    add_float_sign_forms(all);
    add_half_forms(all);
    add_approximate_forms(all);
    return all;
  }();
  return decode_form(forms, instruction, operands, out);
}

}  // namespace krl::machine
