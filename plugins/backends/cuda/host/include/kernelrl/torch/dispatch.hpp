// AT_DISPATCH_…: calls a lambda with `scalar_t` as the type of a tensor's elements.
#pragma once

#include "kernelrl/torch/tensor.hpp"

namespace kernelrl_host {

template <c10::ScalarType type>
struct TypeOf;
#define KERNELRL_TYPE_OF(Name, Type)     \
  template <>                            \
  struct TypeOf<c10::ScalarType::Name> { \
    using type = Type;                   \
  };
KERNELRL_TYPE_OF(Float, float)
KERNELRL_TYPE_OF(Half, c10::Half)
KERNELRL_TYPE_OF(BFloat16, c10::BFloat16)
KERNELRL_TYPE_OF(Int, int)
KERNELRL_TYPE_OF(Long, std::int64_t)
KERNELRL_TYPE_OF(Bool, bool)
KERNELRL_TYPE_OF(Double, double)
KERNELRL_TYPE_OF(Byte, unsigned char)
KERNELRL_TYPE_OF(Char, signed char)
KERNELRL_TYPE_OF(Short, short)
#undef KERNELRL_TYPE_OF

}  // namespace kernelrl_host

#define AT_DISPATCH_CASE(which, ...)                                                 \
  case which: {                                                                      \
    using scalar_t [[maybe_unused]] = typename ::kernelrl_host::TypeOf<which>::type; \
    return __VA_ARGS__();                                                            \
  }
#define AT_DISPATCH_SWITCH(TYPE, NAME, ...)                                         \
  [&] {                                                                             \
    const ::c10::ScalarType kernelrl_type = TYPE;                                   \
    switch (kernelrl_type) {                                                        \
      __VA_ARGS__                                                                   \
      default:                                                                      \
        ::c10::fail("", '"', NAME, "\" not implemented for '", kernelrl_type, "'"); \
    }                                                                               \
  }()

#define KERNELRL_FLOATING_CASES(...)                       \
  AT_DISPATCH_CASE(::c10::ScalarType::Double, __VA_ARGS__) \
  AT_DISPATCH_CASE(::c10::ScalarType::Float, __VA_ARGS__)
#define KERNELRL_INTEGRAL_CASES(...)                     \
  AT_DISPATCH_CASE(::c10::ScalarType::Byte, __VA_ARGS__) \
  AT_DISPATCH_CASE(::c10::ScalarType::Char, __VA_ARGS__) \
  AT_DISPATCH_CASE(::c10::ScalarType::Int, __VA_ARGS__)  \
  AT_DISPATCH_CASE(::c10::ScalarType::Long, __VA_ARGS__) \
  AT_DISPATCH_CASE(::c10::ScalarType::Short, __VA_ARGS__)

#define AT_DISPATCH_FLOATING_TYPES(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, KERNELRL_FLOATING_CASES(__VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME,                             \
                     KERNELRL_FLOATING_CASES(__VA_ARGS__)    \
                         AT_DISPATCH_CASE(::c10::ScalarType::Half, __VA_ARGS__))
#define AT_DISPATCH_REDUCED_FLOATING_TYPES(TYPE, NAME, ...)                 \
  AT_DISPATCH_SWITCH(TYPE, NAME,                                            \
                     AT_DISPATCH_CASE(::c10::ScalarType::Half, __VA_ARGS__) \
                         AT_DISPATCH_CASE(::c10::ScalarType::BFloat16, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND(FIRST, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME,                               \
                     KERNELRL_FLOATING_CASES(__VA_ARGS__) AT_DISPATCH_CASE(FIRST, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND2(FIRST, SECOND, TYPE, NAME, ...)                        \
  AT_DISPATCH_SWITCH(TYPE, NAME,                                                               \
                     KERNELRL_FLOATING_CASES(__VA_ARGS__) AT_DISPATCH_CASE(FIRST, __VA_ARGS__) \
                         AT_DISPATCH_CASE(SECOND, __VA_ARGS__))
#define AT_DISPATCH_INTEGRAL_TYPES(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, KERNELRL_INTEGRAL_CASES(__VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME,               \
                     KERNELRL_FLOATING_CASES(__VA_ARGS__) KERNELRL_INTEGRAL_CASES(__VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND(FIRST, TYPE, NAME, ...)                                      \
  AT_DISPATCH_SWITCH(TYPE, NAME,                                                               \
                     KERNELRL_FLOATING_CASES(__VA_ARGS__) KERNELRL_INTEGRAL_CASES(__VA_ARGS__) \
                         AT_DISPATCH_CASE(FIRST, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND2(FIRST, SECOND, TYPE, NAME, ...)                             \
  AT_DISPATCH_SWITCH(TYPE, NAME,                                                               \
                     KERNELRL_FLOATING_CASES(__VA_ARGS__) KERNELRL_INTEGRAL_CASES(__VA_ARGS__) \
                         AT_DISPATCH_CASE(FIRST, __VA_ARGS__)                                  \
                             AT_DISPATCH_CASE(SECOND, __VA_ARGS__))
