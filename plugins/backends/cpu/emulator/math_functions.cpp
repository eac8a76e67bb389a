// The mathematical functions of the C library that a kernel may call, in float and in double.
#include <algorithm>

#include "plugins/backends/cpu/emulator/hooks.hpp"

// Each name stands for two functions, sin and sinf.
#define KRL_MATH_FUNCTIONS(F)                                                                    \
  F(acos)                                                                                        \
  F(acosh)                                                                                       \
  F(asin)                                                                                        \
  F(asinh)                                                                                       \
  F(atan)                                                                                        \
  F(atan2) F(atanh) F(cbrt) F(ceil) F(copysign) F(cos) F(cosh) F(erf) F(erfc) F(exp) F(exp10)    \
      F(exp2) F(expm1) F(fabs) F(fdim) F(floor) F(fma) F(fmax) F(fmin) F(fmod) F(frexp) F(hypot) \
          F(ilogb) F(j0) F(j1) F(ldexp) F(lgamma) F(log) F(log10) F(log1p) F(log2) F(logb)       \
              F(lrint) F(lround) F(llrint) F(llround) F(modf) F(nearbyint) F(nextafter) F(pow)   \
                  F(remainder) F(remquo) F(rint) F(round) F(scalbln) F(scalbn) F(sin) F(sincos)  \
                      F(sinh) F(sqrt) F(tan) F(tanh) F(tgamma) F(trunc) F(y0) F(y1)

// Only the addresses are wanted: <cmath> would bring overloads of the same names.
#define KRL_DECLARE(name)                              \
  extern "C" void krl_library_##name() __asm__(#name); \
  extern "C" void krl_library_##name##f() __asm__(#name "f");
KRL_MATH_FUNCTIONS(KRL_DECLARE)
#undef KRL_DECLARE

namespace krl::emulator {

const std::vector<Hook>& math_functions() {
#define KRL_ROWS(name)                                   \
  {#name, reinterpret_cast<void*>(&krl_library_##name)}, \
      {#name "f", reinterpret_cast<void*>(&krl_library_##name##f)},
  static const std::vector<Hook> functions = {KRL_MATH_FUNCTIONS(KRL_ROWS)};
#undef KRL_ROWS
  return functions;
}

}  // namespace krl::emulator
