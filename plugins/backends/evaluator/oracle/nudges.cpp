#include "plugins/backends/evaluator/oracle/nudges.hpp"

#include <ATen/ops/arange.h>
#include <ATen/ops/bitwise_right_shift.h>

#include <algorithm>

namespace krl::evaluator {
namespace {

constexpr double kUlp = 0x1p-23;

// Takes the sign of an integer hash with two rounds, which does not repeat under any shift of the
// numbers.
at::Tensor factors_of(at::Tensor hash) {
  hash.mul_(-1640531535);  // 2^32 by the golden ratio
  hash.bitwise_xor_(at::bitwise_right_shift(hash, 15)).mul_(-2048144777);
  hash.bitwise_xor_(at::bitwise_right_shift(hash, 13)).mul_(-1028477379);
  return hash.sign_().to(at::kFloat).mul_(kUlp).add_(1);
}

}  // namespace

// Draws and places are windows of the tables, each an element further.
at::Tensor Nudges::moved(const at::Tensor& values, std::int64_t draw, std::int64_t place) {
  const std::int64_t needed = values.numel() + kMostDraws / 2 * kMostPlaces;
  if (!even_.defined() || even_.numel() < needed) {
    constexpr std::int64_t kLeast = std::int64_t{1} << 16;
    const std::int64_t grown = even_.defined() ? even_.numel() + even_.numel() / 2 : kLeast;
    even_ = odd_ = at::Tensor();
    const at::TensorOptions integers = values.options().dtype(at::kInt);
    even_ = factors_of(at::arange(1, std::max(needed, grown) + 1, integers));
    odd_ = even_.clone();
    at::Tensor turned = odd_.slice(0, 0, odd_.numel(), 2);
    turned.neg_().add_(2);
  }
  const at::Tensor& table = draw % 2 == 0 ? even_ : odd_;
  const at::Tensor factors =
      table.narrow(0, draw / 2 * kMostPlaces + place, values.numel()).view(values.sizes());
  if (values.scalar_type() == at::kFloat) return factors.mul(values);
  return factors.to(at::kDouble).sub_(1).mul_(kLittle).add_(1).mul_(values);
}

at::Tensor Nudges::moved_by_value(const at::Tensor& values, std::int64_t draw) {
  return factors_of(values.contiguous().view(at::kInt).add(draw)).mul_(values);
}

}  // namespace krl::evaluator
