#include "core/experiment/policy_check.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/learn/optimizer_step.hpp"
#include "core/plan/node.hpp"
#include "core/plugin/components.hpp"

namespace krl::core {
namespace {

Status at(const ComponentSettings& settings, std::string message, std::string hint) {
  return failure(problem_at(settings.origin, std::move(message), std::move(hint)));
}

Status check_sampler(const PolicySettings& settings, const PolicyInfo& learner,
                     const PolicyInfo& sampler) {
  const ComponentSettings& part = *settings.sampler;
  if (!sampler.has_tokens) {
    return at(part,
              fmt::format("policy '{}' cannot sample for '{}': it returns no tokens", part.use,
                          settings.use),
              "learning requires exactly the tokens that were sampled; " + sampler.description);
  }
  if (!sampler.takes_tokens) {
    return at(
        part,
        fmt::format("policy '{}' cannot sample for '{}': it does not accept prompts as tokens",
                    part.use, settings.use),
        "choose another sampler");
  }
  if (learner.needs_corpus || (learner.exports & sampler.adopts) != 0) return {};
  return at(part,
            fmt::format("policy '{}' does not accept weights in any format that '{}' can export",
                        part.use, settings.use),
            learner.exports == KRL_WEIGHTS_HF
                ? "adapters are easier to transfer than full weights: policy.lora.rank"
                : "choose another sampler");
}

const char* name_of(std::uint32_t kind) {
  switch (kind) {
    case KRL_LOGPROBS_RAW:
      return "raw log-probabilities, before the temperature is applied";
    case KRL_LOGPROBS_PROCESSED:
      return "log-probabilities after top_p and top_k";
    default:
      return "log-probabilities of an unknown kind";
  }
}

// Learning compares the recorded log-probabilities with those of the distribution divided by the
// temperature, before top_p and top_k.
Status check_logprobs(const ComponentSettings& sampler, std::uint32_t kind,
                      const RolloutSettings& rollout) {
  const bool filters = rollout.top_p < 1 || rollout.top_k > 0;
  const bool raw_fits = rollout.temperature == 1;
  if (kind == KRL_LOGPROBS_RAW && !raw_fits) {
    return at(sampler,
              fmt::format("policy '{}' records {}, but rollout.temperature is {}", sampler.use,
                          name_of(kind), rollout.temperature),
              "set rollout.temperature = 1.0, or let it record them after the temperature");
  }
  if (kind == KRL_LOGPROBS_PROCESSED && filters) {
    return at(sampler, fmt::format("policy '{}' records {}", sampler.use, name_of(kind)),
              "set rollout.top_p = 1.0 and rollout.top_k = -1, or let it record raw ones");
  }
  return {};
}

Status check_ahead(const PolicySettings& settings, const PolicyInfo& info,
                   const RolloutSettings& rollout) {
  if (rollout.ahead == 0 || settings.sampler || info.samples_while_training) return {};
  return at(settings,
            fmt::format("policy '{}' cannot sample while it learns, which rollout.ahead requires",
                        settings.use),
            "set rollout.ahead = 0, or give it a sampler: policy.sampler");
}

Status check_critic(const PolicySettings& settings, const PolicyInfo& info,
                    const LearnSettings& learn) {
  if (learn.advantage != AdvantageKind::kGae || info.has_critic) return {};
  return at(settings,
            fmt::format("policy '{}' has no critic, which learn.advantage = \"gae\" requires",
                        settings.use),
            "enable its critic, if it supports one (kernelrl plugins show " + settings.use +
                "), or choose an advantage that is relative to groups, such as \"grpo\"");
}

Status check_loss(const PolicySettings& settings, const StageSettings& stage,
                  const Registry& registry) {
  KRL_ASSIGN(const Component* component, registry.require(Kind::kPolicy, settings.use));
  const Loss loss = stage.kind == StageKind::kSft ? supervised_loss(1) : loss_of(stage.settings);
  const Status can = Policy::check_loss(*component, settings.options, loss, CallScope{});
  if (can) return {};
  Error placed =
      problem_at(settings.origin, fmt::format("stage '{}': {}", stage.name, can.error().message),
                 "choose another loss or other parameters");
  placed.code = can.error().code;
  return failure(std::move(placed));
}

Status check_rl(const PolicySettings& settings, const PolicyInfos& infos,
                const StageSettings& stage) {
  const RolloutSettings& rollout = stage.settings.rollout;
  if (infos.learner) {
    KRL_TRY(check_ahead(settings, *infos.learner, rollout));
    KRL_TRY(check_critic(settings, *infos.learner, stage.settings.learn));
  }
  const std::optional<PolicyInfo>& sampler = settings.sampler ? infos.sampler : infos.learner;
  if (sampler) {
    const ComponentSettings& part = settings.sampler ? *settings.sampler : settings;
    KRL_TRY(check_logprobs(part, sampler->logprobs, rollout));
  }
  if (infos.reference && !infos.reference->has_logprobs) {
    return at(
        *settings.reference,
        fmt::format(
            "policy '{}' cannot compute log-probabilities of given tokens, so it cannot be a reference",
            settings.reference->use),
        "choose another reference");
  }
  return {};
}

// Returns where the value of this key is set that is in force in a stage.
const Origin& origin_of(const Plan& plan, std::size_t stage, const std::string& key) {
  const Node* own = plan.document->find("stage")->elements()[stage].find_path(key);
  return (own != nullptr ? own : plan.document->find_path(key))->origin;
}

bool has_pairs(const Settings& settings) {
  const auto& all = settings.datasets;
  return std::any_of(all.begin(), all.end(), [](const DatasetSettings& dataset) {
    return dataset.role == DatasetRole::kWarmup;
  });
}

// Without randomness all answers to a prompt are the same, and there is nothing to compare.
Status check_temperature(const Plan& plan, std::size_t stage) {
  if (plan.stage(stage).rollout.temperature > 0) return {};
  return failure(
      problem_at(origin_of(plan, stage, "rollout.temperature"),
                 fmt::format("stage '{}' cannot learn at temperature 0", plan.stages[stage].name),
                 "all answers of a group would be the same; only evaluations can be greedy"));
}

// No group is refilled if each turn is compared with the critic's expectation.
Status check_refill(const Plan& plan, std::size_t stage) {
  const Settings& settings = plan.stage(stage);
  if (settings.rollout.refill_tries == 0 || settings.learn.advantage != AdvantageKind::kGae)
    return {};
  return failure(problem_at(
      origin_of(plan, stage, "rollout.refill_tries"),
      fmt::format("stage '{}' has no groups to refill", plan.stages[stage].name),
      "learn.advantage = \"gae\" learns from every turn: set rollout.refill_tries to 0"));
}

// A thought is ended by asking for the rest of an answer that continues after it.
Status check_thinking(const Plan& plan, std::size_t stage, const PolicyInfos& infos) {
  const RolloutSettings& rollout = plan.stage(stage).rollout;
  if (rollout.thinking_tokens == 0) return {};
  const Origin& origin = origin_of(plan, stage, "rollout.thinking_tokens");
  if (rollout.thinking_tokens >= rollout.max_tokens) {
    return failure(problem_at(
        origin,
        fmt::format(
            "a thought of {} tokens leaves no room for an answer in rollout.max_tokens = {}",
            rollout.thinking_tokens, rollout.max_tokens),
        "rollout.max_tokens includes both the thought and the answer after it"));
  }
  const std::optional<PolicyInfo>& sampler = plan.policy.sampler ? infos.sampler : infos.learner;
  if (!sampler || sampler->continues) return {};
  return failure(problem_at(
      origin,
      fmt::format("policy '{}' cannot end a thought: it cannot continue a partial answer",
                  plan.policy.who_samples().use),
      "remove rollout.thinking_tokens; the reward 'overlong' also shortens answers"));
}

// The recorded log-probabilities include tokens that top_p and top_k exclude.
void note_filters(const Plan& plan, std::vector<std::string>& notes) {
  for (std::size_t i = 0; i < plan.stages.size(); ++i) {
    const RolloutSettings& rollout = plan.stage(i).rollout;
    const bool by_p = rollout.top_p < 1;
    if (plan.stages[i].kind != StageKind::kRl || (!by_p && rollout.top_k < 1)) continue;
    notes.push_back(note_at(
        origin_of(plan, i, by_p ? "rollout.top_p" : "rollout.top_k"),
        fmt::format(
            "stage '{}' samples from fewer tokens than it learns from, which biases the ratios of its loss; use top_p = 1 and top_k = -1 for learning",
            plan.stages[i].name)));
  }
}

// The values of rollout.max_tokens, of the plan and of stages; none if nothing is rolled out.
std::vector<const Node*> answer_limits(const Plan& plan) {
  std::vector<const Node*> limits = {plan.document->find_path("rollout.max_tokens")};
  bool rolls_out = plan.stages.empty();
  for (std::size_t i = 0; i < plan.stages.size(); ++i) {
    const Node& stage = plan.document->find("stage")->elements()[i];
    if (const Node* own = stage.find_path("rollout.max_tokens")) limits.push_back(own);
    rolls_out = rolls_out || plan.stages[i].plays();
  }
  return rolls_out ? limits : std::vector<const Node*>();
}

}  // namespace

Result<PolicyInfos> describe(const Policies& policies) {
  PolicyInfos infos;
  KRL_ASSIGN(infos.learner, policies.learner().describe());
  if (policies.has_sampler()) {
    KRL_ASSIGN(infos.sampler, policies.sampler().describe());
  }
  if (policies.reference()) {
    KRL_ASSIGN(infos.reference, policies.reference()->describe());
  }
  return infos;
}

Result<PolicyInfos> preview(const PolicySettings& settings, const Registry& registry) {
  const auto of = [&](const ComponentSettings& part) -> Result<std::optional<PolicyInfo>> {
    KRL_ASSIGN(const Component* component, registry.require(Kind::kPolicy, part.use));
    auto info = Policy::preview(*component, part.options, CallScope{});
    if (!info) return failure(at_component(part, std::move(info).error()));
    return info;
  };
  PolicyInfos infos;
  KRL_ASSIGN(infos.learner, of(settings));
  if (settings.sampler) {
    KRL_ASSIGN(infos.sampler, of(*settings.sampler));
  }
  if (settings.reference) {
    KRL_ASSIGN(infos.reference, of(*settings.reference));
  }
  return infos;
}

std::vector<std::string> policy_notes(const Plan& plan, const Registry& registry) {
  std::vector<std::string> notes;
  note_filters(plan, notes);
  const auto infos = preview(plan.policy, registry);
  if (!infos) return notes;  // an error is reported wherever it matters
  const ComponentSettings& sampler = plan.policy.who_samples();
  const std::optional<PolicyInfo>& info = plan.policy.sampler ? infos->sampler : infos->learner;
  const std::int64_t context = info ? info->context_tokens : 0;
  for (const Node* limit : answer_limits(plan)) {
    const std::int64_t most = std::get<std::int64_t>(limit->value);
    if (context == 0 || most <= context) continue;
    notes.push_back(note_at(
        limit->origin.is_default() ? sampler.origin : limit->origin,
        fmt::format("rollout.max_tokens = {}, but policy '{}' has a context of {} tokens for a "
                    "prompt and its answer",
                    most, sampler.use, context)));
  }
  return notes;
}

std::optional<Problem> why_untrainable(const PolicySettings& settings, const PolicyInfos& infos) {
  if (!infos.learner || (infos.learner->trainable && infos.learner->has_tokens)) return {};
  const std::string why = !infos.learner->trainable ? "it only samples" : "it gives no tokens";
  return Problem{settings.origin,
                 fmt::format("policy '{}' cannot be trained: {}", settings.use, why),
                 "it can be evaluated; to train, choose another policy, which it can sample for "
                 "(policy.sampler)"};
}

Error needs_texts(const PolicySettings& settings) {
  return problem_at(
      settings.origin,
      fmt::format("policy '{}' starts from scratch and needs texts to start with", settings.use),
      "add a [[dataset]] with role = \"warmup\"");
}

Status check_policies(const Plan& plan, const PolicyInfos& infos, const Registry& registry) {
  const PolicySettings& settings = plan.policy;
  if (const auto problem = why_untrainable(settings, infos); problem && plan.learns())
    return failure(problem_at(problem->origin, problem->message, problem->hint));
  if (infos.learner && infos.sampler)
    KRL_TRY(check_sampler(settings, *infos.learner, *infos.sampler));
  if (infos.learner && infos.learner->needs_corpus && plan.run.from.empty() &&
      !plan.stages.empty() && !has_pairs(plan.stage(0)))
    return failure(needs_texts(settings));
  for (std::size_t i = 0; i < plan.stages.size(); ++i) {
    const StageSettings& stage = plan.stages[i];
    if (stage.plays()) KRL_TRY(check_thinking(plan, i, infos));
    if (stage.kind == StageKind::kSearch) continue;
    if (stage.kind == StageKind::kRl) {
      KRL_TRY(check_temperature(plan, i));
      KRL_TRY(check_refill(plan, i));
      KRL_TRY(check_rl(settings, infos, stage));
    }
    KRL_TRY(check_loss(settings, stage, registry));
  }
  return {};
}

}  // namespace krl::core
