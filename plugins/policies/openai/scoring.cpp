#include "plugins/policies/openai/scoring.hpp"

#include <algorithm>
#include <cmath>

namespace krl::openai {
namespace {

void check_scores(const std::vector<float>& logprobs) {
  for (const float logprob : logprobs) {
    if (!std::isfinite(logprob) || logprob > 1e-4F) {
      throw Failure(KRL_UNAVAILABLE,
                    "the server's answer is wrong: log-probability " + std::to_string(logprob));
    }
  }
}

Ask ask_of(const Example& example, std::size_t number, std::int64_t context) {
  Ask ask;
  ask.prompt.assign(example.prompt_tokens().begin(), example.prompt_tokens().end());
  ask.prompt.insert(ask.prompt.end(), example.tokens().begin(), example.tokens().end());
  if (example.prompt_tokens().empty()) {
    invalid_argument("example " + std::to_string(number) + " has no prompt");
  }
  if (context > 0 && static_cast<std::int64_t>(ask.prompt.size()) >= context) {
    invalid_argument("example " + std::to_string(number) + " has " +
                     std::to_string(ask.prompt.size()) + " tokens, and one more is sampled; the " +
                     "server's context has " + std::to_string(context));
  }
  return ask;
}

}  // namespace

Patience patience_of(const Context& context, Seconds limit) {
  Patience patience = Patience::of(std::chrono::duration_cast<Clock::duration>(limit),
                                   [&context] { return context.cancelled(); });
  if (context.deadline_ns() != 0) {
    const Clock::time_point at{std::chrono::nanoseconds(context.deadline_ns())};
    patience.deadline = std::min(patience.deadline, at);
  }
  return patience;
}

void score(Engine& engine, double temperature, const Examples& examples, const LogprobSink& sink,
           const Context& context) {
  const Dialect& dialect = *engine.found().dialect;
  if (engine.token_chat() == nullptr || dialect.encode_scoring == nullptr) {
    throw Failure(KRL_UNIMPLEMENTED,
                  engine.found().server +
                      " does not return log-probabilities of given tokens; vLLM and "
                      "SGLang do, with the option tokenizer");
  }
  if (temperature != 1) {
    throw Failure(KRL_UNIMPLEMENTED,
                  "a server gives log-probabilities of given tokens at temperature 1 only");
  }
  const Terms terms{0, patience_of(context, engine.settings().timeout), nullptr};
  std::vector<std::vector<float>> logprobs(examples.size());
  std::size_t next = 0;
  const std::size_t workers = std::min<std::size_t>(engine.capacity(), examples.size());
  engine.loop().run([&](Yield yield) {
    const auto work = [&](std::size_t, Yield own) {
      while (next < examples.size()) {
        const std::size_t i = next++;
        const std::size_t first = examples[i].prompt_tokens().size();
        logprobs[i] =
            engine.asking().score(ask_of(examples[i], i, engine.context()), first, terms, own);
        check_scores(logprobs[i]);
      }
    };
    http::side_by_side(engine.loop().io(), workers, work, yield);
  });
  for (std::size_t i = 0; i < examples.size(); ++i) sink.put(i, logprobs[i]);
}

}  // namespace krl::openai
