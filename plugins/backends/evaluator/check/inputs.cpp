#include "plugins/backends/evaluator/check/inputs.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "plugins/backends/evaluator/check/element.hpp"

namespace krl::evaluator {
namespace {
namespace draws {

double add_product(double sum, double a, double b) { return sum + a * b; }

#define KRL_DRAW inline
#include "plugins/backends/evaluator/check/draws.inc"
#undef KRL_DRAW

}  // namespace draws

using draws::Draw;
using draws::u64;

static_assert(draws::kFlags == static_cast<int>(ValueKind::kFlags));
static_assert(draws::kRare == static_cast<int>(Distribution::kRare));
static_assert(draws::kBool == static_cast<int>(DType::kBool));

Draw draw_of(const ResolvedTensor& tensor, std::uint64_t seed, Distribution distribution) {
  const std::int64_t row = tensor.shape.empty() ? 1 : tensor.shape.back();
  return {static_cast<u64>(tensor.elements),
          static_cast<u64>(row),
          mix_seed(seed, tensor.name),
          tensor.low,
          tensor.high,
          static_cast<int>(tensor.dtype),
          static_cast<int>(tensor.values),
          static_cast<int>(tensor.structure),
          static_cast<int>(distribution)};
}

// Writes the elements of one tensor one after the other.
class Filler {
 public:
  Filler(const Draw& draw, DType dtype, std::span<std::byte> bytes)
      : draw_(draw), dtype_(dtype), bytes_(bytes) {}

  void fill() {
    if (draw_.values == draws::kPermutation) return permutations();
    for (u64 i = 0; i < draw_.elements; ++i) put(i, draws::element_at(draw_, i));
  }

 private:
  void put(u64 index, double value) {
    store_number(dtype_, value, bytes_.data() + index * static_cast<u64>(size_of(dtype_)));
  }

  // Fisher and Yates, one row after the other.
  void permutations() {
    std::vector<u64> row(draw_.row);
    for (u64 start = 0; start < draw_.elements; start += row.size()) {
      std::iota(row.begin(), row.end(), 0);
      for (u64 i = row.size(); i > 1; --i) {
        std::swap(row[i - 1], row[draws::below_at(draw_.seed, start + i - 1, i)]);
      }
      for (u64 i = 0; i < row.size(); ++i) put(start + i, static_cast<double>(row[i]));
    }
  }

  const Draw& draw_;
  const DType dtype_;
  const std::span<std::byte> bytes_;
};

}  // namespace

std::uint64_t mix_seed(std::uint64_t seed, std::uint64_t salt) {
  return draws::scramble(draws::scramble(seed ^ 0x6b65726e656c726c) + salt * 0x9e3779b97f4a7c15);
}

std::uint64_t mix_seed(std::uint64_t seed, std::string_view salt) {
  for (const char c : salt) seed = mix_seed(seed, static_cast<unsigned char>(c));
  return mix_seed(seed, salt.size() + 256);
}

void fill_input(const ResolvedTensor& tensor, std::uint64_t seed, Distribution distribution,
                std::span<std::byte> bytes) {
  Filler(draw_of(tensor, seed, distribution), tensor.dtype, bytes).fill();
  if (tensor.structure == Structure::kGeneral) return;
  const auto size = static_cast<std::size_t>(size_of(tensor.dtype));
  for (std::int64_t i = 0; i < tensor.elements; ++i) {
    std::byte* const element = bytes.data() + static_cast<std::size_t>(i) * size;
    const std::int64_t source = source_of(tensor.structure, tensor.shape.back(), i);
    if (source < 0) std::fill_n(element, size, std::byte{0});
    if (source >= 0)
      std::copy_n(bytes.data() + static_cast<std::size_t>(source) * size, size, element);
  }
}

}  // namespace krl::evaluator
