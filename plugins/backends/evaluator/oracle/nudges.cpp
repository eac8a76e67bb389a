#include "plugins/backends/evaluator/oracle/nudges.hpp"

#include <ATen/ops/arange.h>
#include <ATen/ops/bitwise_right_shift.h>

#include <algorithm>

namespace krl::evaluator {
namespace {

constexpr double kUlp = 0x1p-23;

// An integer hash of two rounds, the sign of which no shift of the index repeats.
at::Tensor random_factors(std::int64_t count, const at::TensorOptions& options) {
  at::Tensor hash = at::arange(1, count + 1, options.dtype(at::kInt));
  hash.mul_(-1640531535);  // 2^32 by the golden ratio
  hash.bitwise_xor_(at::bitwise_right_shift(hash, 15)).mul_(-2048144777);
  hash.bitwise_xor_(at::bitwise_right_shift(hash, 13)).mul_(-1028477379);
  return hash.sign_().to(at::kFloat).mul_(kUlp).add_(1);
}

}  // namespace

// Draws are windows of the table, each an element further.
at::Tensor Nudges::moved(const at::Tensor& values, std::int64_t draw) {
  const std::int64_t needed = values.numel() + kMostDraws;
  if (!factors_.defined() || factors_.numel() < needed) {
    constexpr std::int64_t kLeast = std::int64_t{1} << 16;
    const std::int64_t grown =
        factors_.defined() ? factors_.numel() + factors_.numel() / 2 : kLeast;
    factors_ = at::Tensor();
    factors_ = random_factors(std::max(needed, grown), values.options());
  }
  return factors_.narrow(0, draw, values.numel()).view(values.sizes()).mul(values);
}

}  // namespace krl::evaluator
