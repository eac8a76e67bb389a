#include "core/learn/imitation.hpp"

#include <algorithm>
#include <set>

#include "core/learn/optimizer_step.hpp"
#include "core/learn/training_set.hpp"

namespace krl::core {

Result<std::vector<Example>> examples_to_imitate(const Archive& archive,
                                                 const std::vector<Episode>& episodes,
                                                 std::int64_t count, const PromptBuilder& prompts,
                                                 const Policy& policy,
                                                 std::int64_t context_tokens) {
  std::vector<Example> examples;
  std::set<const Task*> seen;
  for (const Episode& episode : episodes) {
    if (!seen.insert(episode.task).second) continue;
    std::set<std::string_view> ids;  // islands may share kernels
    for (const ArchivedKernel& kernel : archive.kernels(episode.task->id)) {
      if (static_cast<std::int64_t>(ids.size()) == count) break;
      if (!ids.insert(kernel.id).second) continue;
      KRL_ASSIGN(Example example, policy.tokenize(prompts.build(*episode.task, {}), kernel.answer));
      const std::size_t tokens = example.prompt_tokens.size() + example.tokens.size();
      if (context_tokens == 0 || static_cast<std::int64_t>(tokens) <= context_tokens)
        examples.push_back(std::move(example));
    }
  }
  return examples;
}

Result<double> imitate(const Policy& policy, const Batch& batch, double weight) {
  Loss loss = supervised_loss(weighted_tokens(batch) / weight);
  loss.flags = 0;
  Metrics reported;
  KRL_TRY(policy.forward_backward(loss, batch, reported));
  return reported["loss"] / weight;
}

}  // namespace krl::core
