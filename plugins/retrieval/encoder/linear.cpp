#include "plugins/retrieval/encoder/linear.hpp"

#include <ATen/core/List.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <optional>
#include <string_view>

namespace krl::retrieval {
namespace {

using Arrange = at::Tensor(const at::Tensor& weight, std::optional<c10::SymInt> rows);
using Fused = at::Tensor(const at::Tensor& x, const at::Tensor& weight,
                         const std::optional<at::Tensor>& bias, std::string_view activation,
                         c10::List<std::optional<at::Scalar>> scalars,
                         std::optional<std::string_view> algorithm);

std::optional<c10::OperatorHandle> operation(const char* name) {
  return c10::Dispatcher::singleton().findSchema({name, ""});
}

// torch.compile's own operations; where torch was built without oneDNN they are missing.
const std::optional<c10::OperatorHandle>& fused_operation() {
  static const auto found = operation("mkldnn::_linear_pointwise");
  return found;
}

bool is_arranged(const at::Tensor& weight) { return weight.is_mkldnn(); }

}  // namespace

at::Tensor arranged_weight(const at::Tensor& weight) {
  static const auto arrange = operation("mkldnn::_reorder_linear_weight");
  if (!weight.is_cpu() || !arrange || !fused_operation()) return weight;
  constexpr std::int64_t kRows = 512;  // rows of a typical x
  return arrange->typed<Arrange>().call(weight, c10::SymInt(kRows));
}

at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                  Activation activation) {
  const bool gelu = activation == Activation::kGelu;
  if (!is_arranged(weight)) {
    const at::Tensor y = at::linear(x, weight, bias);
    return gelu ? at::gelu(y) : y;
  }
  return fused_operation()->typed<Fused>().call(x, weight, bias, gelu ? "gelu" : "none",
                                                c10::List<std::optional<at::Scalar>>(),
                                                gelu ? "none" : "");
}

}  // namespace krl::retrieval
