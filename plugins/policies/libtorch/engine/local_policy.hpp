// The local policy itself: puts tokenizer, model, generation and training together behind the
// boundary's primitives. One call at a time.
#pragma once

#include <memory>

#include "engine.hpp"
#include "engine/worker_threads.hpp"

namespace krl::libtorch {

class LocalPolicy final : public TrainablePolicy {
 public:
  explicit LocalPolicy(const EngineOptions& options);
  ~LocalPolicy() override;

  // Before fit() or load() the policy has neither vocabulary nor weights (needs_corpus), and
  // everything but describe, save and those two is KRL_FAILED_PRECONDITION.
  PolicyInfo describe() override;
  void fit(Span<krl_str> texts, std::uint64_t seed, const Context& context) override;

  void sample(const Requests& requests, const SampleSink& sink, const Context& context) override;
  void tokenize(const Messages& messages, std::string_view answer, const SampleSink& sink,
                const Context& context) override;

  void logprobs(double temperature, const Examples& examples, const LogprobSink& sink,
                const Context& context) override;
  void forward_backward(const Loss& loss, const Examples& examples,
                        const Context& context) override;
  void optimizer_step(const krl_optimizer& optimizer, const Context& context) override;

  void save(std::string_view directory, const Context& context) override;
  void load(std::string_view directory, const Context& context) override;
  void export_weights(std::string_view directory, std::string_view format,
                      const Context& context) override;

 private:
  struct Fitted;
  Fitted& fitted();

  EngineOptions options_;
  WorkerThreads threads_;
  std::unique_ptr<Fitted> fitted_;  // null before fit() or load()
};

}  // namespace krl::libtorch
