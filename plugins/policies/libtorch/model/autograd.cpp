#include "plugins/policies/libtorch/model/autograd.hpp"

#include <torch/csrc/autograd/functions/utils.h>

#include "plugins/policies/libtorch/torch.hpp"

namespace krl::libtorch {
namespace {

class ClosureNode final : public torch::autograd::Node {
 public:
  explicit ClosureNode(Backward backward) : backward_(std::move(backward)) {}

  torch::autograd::variable_list apply(torch::autograd::variable_list&& grads) override {
    TORCH_CHECK(backward_, "an operation's gradient is requested a second time");
    return backward_(grads);
  }
  void release_variables() override { backward_ = nullptr; }
  std::string name() const override { return "krl::ClosureNode"; }

 private:
  Backward backward_;
};

}  // namespace

bool needs_gradient(const at::Tensor& x) { return at::GradMode::is_enabled() && x.requires_grad(); }

void record(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>& outputs,
            Backward backward) {
  if (std::none_of(inputs.begin(), inputs.end(), needs_gradient)) return;
  const auto node = std::make_shared<ClosureNode>(std::move(backward));
  node->set_next_edges(torch::autograd::collect_next_edges(inputs));
  torch::autograd::set_history(outputs, node);
}

}  // namespace krl::libtorch
