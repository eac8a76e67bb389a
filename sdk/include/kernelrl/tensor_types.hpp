// Element types of tensors, distributions of inputs, tolerances of outputs. Header-only, C++17, no
// dependencies; thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace krl {

enum class DType { kFloat32, kFloat16, kBFloat16, kInt32, kInt64, kBool };

inline constexpr std::array<std::pair<std::string_view, DType>, 6> kDTypes = {
    {{"float32", DType::kFloat32},
     {"float16", DType::kFloat16},
     {"bfloat16", DType::kBFloat16},
     {"int32", DType::kInt32},
     {"int64", DType::kInt64},
     {"bool", DType::kBool}}};

// How the elements of an input are drawn, from a secret seed. Bounds are the half-open range
// [first, second); rows are those of the last dimension.
enum class ValueKind {
  kNormal,         // given a mean, 0, and a deviation, 1; around 0 in other distributions, too
  kUniform,        // within the bounds, or [0, 1)
  kUniformSigned,  // within [-1, 1); likewise
  kIntegers,       // whole numbers in the bounds, which are required
  kPermutation,    // each row a permutation of 0, 1, …, length - 1
  kOneHot,         // each row has one 1, the rest is 0
  kZeros,
  kBernoulli,  // 1 with a probability, else 0
  kSorted,     // whole numbers in the bounds, in each row in ascending order
  kOffsets,    // likewise, but each row begins with the first bound and ends with the second
  kFlags,      // anything but 0 with a probability, else 0
};

inline constexpr std::array<std::pair<std::string_view, ValueKind>, 11> kValueKinds = {
    {{"normal", ValueKind::kNormal},
     {"uniform", ValueKind::kUniform},
     {"uniform_signed", ValueKind::kUniformSigned},
     {"integers", ValueKind::kIntegers},
     {"permutation", ValueKind::kPermutation},
     {"one_hot", ValueKind::kOneHot},
     {"zeros", ValueKind::kZeros},
     {"bernoulli", ValueKind::kBernoulli},
     {"sorted", ValueKind::kSorted},
     {"offsets", ValueKind::kOffsets},
     {"flags", ValueKind::kFlags}}};

// The structure of the square matrices in the last two axes of an input. The elements that it
// leaves free are drawn; the lower half of a symmetric matrix mirrors the upper one, the other half
// of a triangular one is 0.
enum class Structure { kGeneral, kSymmetric, kLowerTriangular, kUpperTriangular };

inline constexpr std::array<std::pair<std::string_view, Structure>, 4> kStructures = {
    {{"general", Structure::kGeneral},
     {"symmetric", Structure::kSymmetric},
     {"lower_triangular", Structure::kLowerTriangular},
     {"upper_triangular", Structure::kUpperTriangular}}};

// The index of the element that the one at `index` equals, in matrices of n x n, one after the
// other; -1: it is 0.
inline std::int64_t source_of(Structure structure, std::int64_t n, std::int64_t index) {
  const std::int64_t row = index / n % n, column = index % n;
  if (structure == Structure::kSymmetric && column < row)
    return index + (column - row) * n + (row - column);
  const bool zero = (structure == Structure::kLowerTriangular && column > row) ||
                    (structure == Structure::kUpperTriangular && column < row);
  return zero ? -1 : index;
}

inline std::string_view name_of(DType type) {
  return kDTypes[static_cast<std::size_t>(type)].first;
}
inline std::string_view name_of(ValueKind kind) {
  return kValueKinds[static_cast<std::size_t>(kind)].first;
}
inline std::string_view name_of(Structure structure) {
  return kStructures[static_cast<std::size_t>(structure)].first;
}

inline bool is_floating(DType type) {
  return type == DType::kFloat32 || type == DType::kFloat16 || type == DType::kBFloat16;
}

// Bytes of one element.
inline std::int64_t size_of(DType type) {
  if (type == DType::kInt64) return 8;
  if (type == DType::kFloat32 || type == DType::kInt32) return 4;
  return type == DType::kBool ? 1 : 2;
}

// A floating-point element passes if |got - expected| <= atol + rtol·|expected| + the largest error
// that float32 rounding may cause there in any order of summation; integers and bools must be
// equal.
struct Tolerance {
  double rtol = 1e-4;
  double atol = 1e-5;
  // Length of the longest sum in an output element, an expression of the axes: 1.
  std::string terms = {};
};

}  // namespace krl
