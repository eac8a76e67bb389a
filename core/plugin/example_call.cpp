#include "core/plugin/example_call.hpp"

#include "core/plugin/text.hpp"

namespace krl {
namespace {

krl_f32s borrow(const std::vector<float>& numbers) { return {numbers.data(), numbers.size()}; }
krl_i32s borrow(const std::vector<std::int32_t>& tokens) { return {tokens.data(), tokens.size()}; }

}  // namespace

Rows<krl_example> rows_of(const std::vector<Example>& examples) {
  return {examples, [](const Example& e) {
            return krl_example{sizeof(krl_example),
                               0,
                               borrow(e.prompt_tokens),
                               borrow(e.tokens),
                               borrow(e.logprobs),
                               borrow(e.advantages),
                               borrow(e.weights),
                               borrow(e.values),
                               borrow(e.returns),
                               borrow(e.old_logprobs),
                               borrow(e.reference_logprobs),
                               e.version,
                               krl::borrow(e.state)};
          }};
}

LossView::LossView(const Loss& loss)
    : parameters_(loss.parameters,
                  [](const auto& parameter) {
                    return krl_parameter{sizeof(krl_parameter), 0, krl::borrow(parameter.first),
                                         parameter.second};
                  }),
      c_{sizeof(krl_loss),
         loss.aggregation,
         krl::borrow(loss.name),
         loss.normaliser,
         loss.temperature,
         parameters_.data(),
         parameters_.size(),
         loss.last_of_step ? KRL_LOSS_LAST_OF_STEP : 0,
         0} {}

}  // namespace krl
