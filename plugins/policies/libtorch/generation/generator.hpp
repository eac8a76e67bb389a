// Answers many prompts at once: a queue of samples, and on every worker thread a batch of slots
// whose samples grow by one token per step; a slot that finishes takes the next sample.
//
// Equal prompts are computed once and their keys and values shared. The worker and batch of a
// sample depend on timing, but its result does not (kernels.hpp). One call at a time.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "plugins/policies/libtorch/base/worker_threads.hpp"
#include "plugins/policies/libtorch/generation/decoder.hpp"
#include "plugins/policies/libtorch/generation/text_generator.hpp"
#include "plugins/policies/libtorch/generation/token_texts.hpp"

namespace krl::libtorch {

class Generator final : public TextGenerator {
 public:
  Generator(const DecoderWeights& weights, TokenTexts texts, WorkerThreads& threads);
  ~Generator() override;

  void run(std::span<const GenerationRequest> requests, const Deliver& deliver,
           const Poll& poll) override;

 private:
  class Worker;
  const TokenTexts texts_;
  WorkerThreads& threads_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace krl::libtorch
