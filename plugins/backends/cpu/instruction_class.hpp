// Classes of PTX instructions, which determine the cost of an instruction of a warp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace krl::cpu {

enum class InstructionClass : std::uint8_t {
  kInteger,    // add, sub, logic, shifts, comparisons, selections, moves of 32 bits or less
  kInteger64,  // the same of 64 bits, and wide products
  kMultiply,   // integer products and mad
  kDivide,     // integer division and remainder: a subroutine on a GPU
  kFloat,      // f32, f16: add, mul, fma, min, max
  kDouble,     // f64, and conversions from and to it
  kSpecial,    // ex2, rcp, rsqrt, sin, …: the special function unit
  kConvert,
  kTensor,
  kLoadStore,  // any address space
  kAtomic,
  kWarp,  // shuffles, votes, matches
  kBarrier,
  kControl,       // branches, calls, returns
  kDoubleDivide,  // f64: div, rcp, sqrt, rsqrt: a subroutine of f64 operations on a GPU
};
inline constexpr std::size_t kInstructionClasses = 15;

// Something for each class, in the order of the enumeration.
template <class T>
using PerClass = std::array<T, kInstructionClasses>;

inline constexpr PerClass<std::string_view> kInstructionClassNames = {
    "integer", "integer64",  "multiply", "divide", "float",   "double",  "special",      "convert",
    "tensor",  "load_store", "atomic",   "warp",   "barrier", "control", "double_divide"};

// Types whose products tensor cores compute at different rates.
enum class TensorType : std::uint8_t {
  kF16,  // and bf16
  kTF32,
  kF8,
  kS8,
  kS4,
  kF64,
};
inline constexpr std::size_t kTensorTypes = 6;

// Something for each of them, in the order of the enumeration.
template <class T>
using PerTensorType = std::array<T, kTensorTypes>;

}  // namespace krl::cpu
