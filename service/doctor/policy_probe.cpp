#include "service/doctor/policy_probe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/base/clock.hpp"

namespace krl::service {
namespace {

Prompt question(std::uint32_t number) {
  static constexpr const char* kAbout[] = {"a sum over the rows of a matrix", "a transposition",
                                           "a softmax over rows", "a histogram of 256 bins"};
  return {{KRL_ROLE_USER, fmt::format("Explain in a few sentences how you would write a CUDA "
                                      "kernel for {} of {} elements.",
                                      kAbout[number % std::size(kAbout)], 1000 + number)}};
}

// The answers to the first questions, in their order.
struct Asked {
  std::vector<Answer> answers;
  double seconds = 0;
};

Result<Asked> ask(const Policy& policy, std::uint32_t questions, std::uint32_t max_tokens) {
  std::vector<SampleRequest> requests;
  for (std::uint32_t i = 0; i < questions; ++i)
    requests.push_back({1, question(i), {.max_tokens = max_tokens}, 1000 + i});
  Asked asked{std::vector<Answer>(questions), 0};
  std::optional<Error> lost;
  const AnswerSink sink{[&](std::size_t request, std::uint32_t, Answer answer) {
                          asked.answers[request] = std::move(answer);
                        },
                        [&](std::size_t, const Error& why) { lost = why; }};
  Metrics ignored;
  const Stopwatch watch;
  KRL_TRY(policy.sample(requests, sink, ignored));
  asked.seconds = watch.seconds();
  if (lost) return failure(*std::move(lost));
  return asked;
}

std::string speed_of(const Asked& asked, bool has_tokens) {
  double size = 0;
  for (const Answer& a : asked.answers)
    size += static_cast<double>(has_tokens ? a.tokens.size() : a.text.size());
  const char* unit = has_tokens ? "tokens" : "characters";
  const auto n = static_cast<double>(asked.answers.size());
  return fmt::format("{} answer{} of {:.0f} {} in {:.2f} s: {:.1f} {}/s", asked.answers.size(),
                     n == 1 ? "" : "s at once", size / n, unit, asked.seconds, size / asked.seconds,
                     unit);
}

const char* description_of(std::uint32_t kind) {
  switch (kind) {
    case KRL_LOGPROBS_RAW:
      return "of the model's own distribution: trains at temperature 1";
    case KRL_LOGPROBS_SCALED:
      return "after the temperature: trains at any";
    case KRL_LOGPROBS_PROCESSED:
      return "after temperature, top_p and top_k: trains without top_p and top_k";
    default:
      return "of an unknown distribution";
  }
}

std::string seeds_of(const std::vector<Answer>& first, const std::vector<Answer>& again) {
  std::size_t same = 0;
  for (std::size_t i = 0; i < first.size(); ++i) same += first[i].text == again[i].text ? 1 : 0;
  return fmt::format("{} of {} answers were the same with the same seed", same, first.size());
}

// Describes how far the recorded log-probabilities are from those of `truth` for the same tokens.
Result<std::string> agreement(const std::vector<Answer>& answers, const Policy& truth) {
  std::vector<Example> examples;
  for (const Answer& a : answers)
    if (!a.tokens.empty()) examples.push_back({a.prompt_tokens, a.tokens});
  if (examples.empty()) return std::string("it returns no tokens to compare");
  KRL_ASSIGN(const std::vector<std::vector<float>> expected, truth.logprobs(1.0, examples));
  double total = 0, largest = 0, tokens = 0;
  std::size_t example = 0;
  for (const Answer& a : answers) {
    if (a.tokens.empty()) continue;
    for (std::size_t t = 0; t < a.logprobs.size(); ++t) {
      const double difference = std::abs(static_cast<double>(a.logprobs[t]) - expected[example][t]);
      total += difference;
      largest = std::max(largest, difference);
      ++tokens;
    }
    ++example;
  }
  return fmt::format("differ by {:.1e} in the mean, {:.1e} at most, over {:.0f} tokens",
                     total / tokens, largest, tokens);
}

}  // namespace

Result<Findings> probe(const Policy& policy, const PolicyInfo& info,
                       const ProbeSettings& settings) {
  Findings findings;
  if (settings.answers == 0) return findings;
  KRL_ASSIGN(const Asked warm_up, ask(policy, 1, settings.max_tokens));
  findings.emplace_back("first answer", speed_of(warm_up, info.has_tokens));
  KRL_ASSIGN(const Asked alone, ask(policy, 1, settings.max_tokens));
  findings.emplace_back("one at a time", speed_of(alone, info.has_tokens));
  KRL_ASSIGN(const Asked asked, ask(policy, settings.answers, settings.max_tokens));
  findings.emplace_back("speed", speed_of(asked, info.has_tokens));
  KRL_ASSIGN(const Asked again, ask(policy, settings.answers, settings.max_tokens));
  findings.emplace_back("seeds", seeds_of(asked.answers, again.answers));
  if (info.has_tokens) findings.emplace_back("log-probabilities", description_of(info.logprobs));
  if (settings.truth != nullptr) {
    KRL_ASSIGN(std::string text, agreement(asked.answers, *settings.truth));
    findings.emplace_back("difference from the model's own", std::move(text));
  }
  return findings;
}

}  // namespace krl::service
