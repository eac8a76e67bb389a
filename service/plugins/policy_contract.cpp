#include <fmt/format.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <kernelrl/temporary_folder.hpp>
#include <map>

#include "core/plugin/policy.hpp"
#include "service/plugins/contract.hpp"

namespace krl::service {
namespace policy_contract {
namespace {

const Prompt kPrompt = {{KRL_ROLE_USER, "Write a CUDA kernel for out[i] = 2 * x[i]."}};
constexpr char kAnswer[] = "__global__ void kern(const float* x, float* out, int n) {}";
constexpr double kSameLogprob = 0.05;  // mean difference of two computations, in 16 bits at most

// A policy that has seen texts, if it needs some.
struct Ready {
  Policy policy;
  PolicyInfo info;
};

Result<Ready> ready(const Subject& subject, Components& components) {
  KRL_ASSIGN(Policy policy, components.create<Policy>(subject.settings));
  KRL_ASSIGN(PolicyInfo info, policy.describe());
  if (info.needs_corpus) {
    KRL_TRY(policy.fit({kPrompt[0].text, kAnswer}, 1));
    KRL_ASSIGN(info, policy.describe());
  }
  return Ready{std::move(policy), std::move(info)};
}
Result<Ready> ready(const Subject& subject) { return ready(subject, subject.components); }

Status starts(const Subject& subject) {
  KRL_TRY(ready(subject));
  return {};
}

SampleRequest request(std::uint32_t samples, std::uint64_t seed) {
  SampleRequest request;
  request.n_samples = samples;
  request.messages = kPrompt;
  request.sampling.max_tokens = 16;
  request.seed = seed;
  return request;
}

using Answers = std::map<std::pair<std::size_t, std::uint32_t>, Answer>;

Result<Answers> answers_of(const Policy& policy, const std::vector<SampleRequest>& requests) {
  Answers answers;
  std::string lost;
  Metrics metrics;
  KRL_TRY(policy.sample(requests,
                        {[&](std::size_t r, std::uint32_t k, Answer answer) {
                           answers[{r, k}] = std::move(answer);
                         },
                         [&](std::size_t r, const Error& why) {
                           lost = fmt::format("request {} was lost: {}", r, why.message);
                         }},
                        metrics));
  if (!lost.empty()) return broken(lost);
  return answers;
}

// Looks at what a run would have to refuse later.
Status check_answers(const Answers& answers, const PolicyInfo& info) {
  for (const auto& [key, answer] : answers) {
    if (answer.stop_reason >= KRL_STOP_ABORTED)
      return broken(fmt::format("it gave up on an answer (stop reason {})", answer.stop_reason));
    if (answer.policy_version != info.version)
      return broken(fmt::format("an answer is of version {} of the weights, and the policy of {}",
                                answer.policy_version, info.version));
  }
  return {};
}

Status samples(const Subject& subject) {
  KRL_ASSIGN(const Ready of, ready(subject));
  for (const auto& requests : {std::vector{request(1, 1), request(3, 2)}, {request(1, 3)}}) {
    KRL_ASSIGN(const Answers answers, answers_of(of.policy, requests));
    KRL_TRY(check_answers(answers, of.info));
  }
  return {};
}

Status repeats(const Subject& subject) {
  KRL_ASSIGN(const Ready of, ready(subject));
  KRL_ASSIGN(const Answers first, answers_of(of.policy, {request(2, 1), request(2, 2)}));
  KRL_ASSIGN(const Answers again, answers_of(of.policy, {request(2, 1), request(2, 2)}));
  for (const auto& [key, answer] : first) {
    if (again.at(key).text != answer.text)
      return broken("the same request with the same seed had another answer");
  }
  return {};
}

Status tokenizes(const Subject& subject) {
  KRL_ASSIGN(const Ready of, ready(subject));
  KRL_ASSIGN(const Example example, of.policy.tokenize(kPrompt, kAnswer));
  KRL_ASSIGN(const Example again, of.policy.tokenize(kPrompt, kAnswer));
  if (example.tokens.empty()) return broken(fmt::format("the answer '{}' has no tokens", kAnswer));
  if (example.tokens != again.tokens || example.prompt_tokens != again.prompt_tokens)
    return broken("the same texts had other tokens the second time");
  return {};
}

// The log-probabilities of an answer when it was sampled and when they are computed.
Status agrees(const Subject& subject) {
  KRL_ASSIGN(const Ready of, ready(subject));
  KRL_ASSIGN(const Answers answers, answers_of(of.policy, {request(2, 1)}));
  for (const auto& [key, answer] : answers) {
    Example example;
    example.prompt_tokens = answer.prompt_tokens;
    example.tokens = answer.tokens;
    KRL_ASSIGN(const auto computed, of.policy.logprobs(1, {example}));
    double difference = 0;
    for (std::size_t i = 0; i < answer.logprobs.size(); ++i)
      difference += std::fabs(answer.logprobs[i] - computed[0][i]);
    difference /= static_cast<double>(std::max<std::size_t>(answer.logprobs.size(), 1));
    if (!(difference <= kSameLogprob))
      return broken(
          fmt::format("the log-probabilities of sampled tokens and those that logprobs() "
                      "gives differ by {:.3f} on average",
                      difference));
  }
  return {};
}

Status learn(const Policy& policy) {
  KRL_ASSIGN(const Example example, policy.tokenize(kPrompt, kAnswer));
  Loss loss;
  loss.name = "cross_entropy";
  loss.normaliser = static_cast<double>(example.tokens.size());
  Optimizer optimizer;
  optimizer.lr = 1e-3;
  Metrics metrics;
  KRL_TRY(policy.forward_backward(loss, {&example}, metrics));
  KRL_TRY(policy.optimizer_step(optimizer, metrics));
  for (const auto& [name, value] : metrics) {
    if (!std::isfinite(value)) return broken(fmt::format("the metric {} is {}", name, value));
  }
  return {};
}

// Lets the newest weights sample; a policy without the call does that by itself.
Status publish(const Policy& policy) {
  const auto version = policy.publish();
  if (version || version.error().code == Code::kUnimplemented) return {};
  return failure(version.error());
}

Status learns(const Subject& subject) {
  KRL_ASSIGN(const Ready of, ready(subject));
  if (!of.info.has_tokens) return broken("it can be trained, and says that it gives no tokens");
  for (int step = 0; step < 2; ++step) KRL_TRY(learn(of.policy));
  KRL_TRY(publish(of.policy));
  KRL_ASSIGN(const PolicyInfo then, of.policy.describe());
  if (then.version <= of.info.version)
    return broken(fmt::format("its weights are of version {} before it learned and of {} after",
                              of.info.version, then.version));
  KRL_ASSIGN(const Answers answers, answers_of(of.policy, {request(1, 1)}));
  return check_answers(answers, then);
}

Status saves(const Subject& subject) {
  const TemporaryFolder folder("kernelrl-validate");
  KRL_ASSIGN(const Ready of, ready(subject));
  KRL_TRY(learn(of.policy));
  KRL_TRY(of.policy.save(folder.path()));
  if (std::filesystem::is_empty(folder.path())) return broken("save() wrote nothing");
  KRL_ASSIGN(const Policy other, subject.components.create<Policy>(subject.settings));
  KRL_TRY(other.load(folder.path()));
  KRL_ASSIGN(const PolicyInfo before, of.policy.describe());
  KRL_ASSIGN(const PolicyInfo after, other.describe());
  if (before.version != after.version)
    return broken(
        fmt::format("it was saved as version {} and loaded as {}", before.version, after.version));
  KRL_ASSIGN(const Example example, of.policy.tokenize(kPrompt, kAnswer));
  KRL_ASSIGN(const auto saved, of.policy.logprobs(1, {example}));
  KRL_ASSIGN(const auto loaded, other.logprobs(1, {example}));
  if (saved != loaded) return broken("what was loaded computes other log-probabilities");
  return {};
}

Status obeys(const Subject& subject) {
  const auto of = ready(subject, subject.cancelled);
  if (!of) return of.error().code == Code::kCancelled ? Status() : failure(of.error());
  const auto answers = answers_of(of->policy, {request(1, 1)});
  if (answers || answers.error().code == Code::kCancelled) return {};
  return failure(answers.error());
}

template <bool PolicyInfo::*kHas>
const char* unless(const Subject& subject) {
  static constexpr char kNotAble[] = "it does not say that it can";
  const auto policy = subject.components.create<Policy>(subject.settings);
  if (!policy) return nullptr;
  const auto info = policy->describe();
  return info && !((*info).*kHas) ? kNotAble : nullptr;
}

const char* unless_comparable(const Subject& subject) {
  const auto policy = subject.components.create<Policy>(subject.settings);
  if (!policy) return nullptr;
  const auto info = policy->describe();
  const bool comparable =
      !info || (info->has_tokens && info->has_logprobs && info->logprobs != KRL_LOGPROBS_UNKNOWN);
  return comparable ? nullptr : "it does not say that it can";
}

constexpr std::array kRules = {
    Rule{"starts", "an instance is made, describes itself, and is destroyed", starts},
    Rule{"samples", "every request is answered as often as it asks for", samples},
    Rule{"repeats", "the same request with the same seed has the same answer", repeats,
         unless_deterministic},
    Rule{"tokenizes", "texts have tokens, always the same", tokenizes,
         unless<&PolicyInfo::has_tokens>},
    Rule{"agrees", "sampling and logprobs() compute the same log-probabilities", agrees,
         unless_comparable},
    Rule{"learns", "it takes steps, whose metrics are finite", learns,
         unless<&PolicyInfo::trainable>},
    Rule{"saves", "what was saved is loaded as it was", saves, unless<&PolicyInfo::trainable>},
    Rule{"obeys", "a cancelled call ends, as cancelled or with its answers", obeys},
};

}  // namespace
}  // namespace policy_contract

std::span<const Rule> policy_rules() { return policy_contract::kRules; }

}  // namespace krl::service
