// The state shared by the workers of one generation: the prompts, the samples still to start, and
// the finished ones on their way to the caller. Thread-safe.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "plugins/policies/libtorch/generation/generator.hpp"

namespace krl::libtorch {

// A prompt, computed by the first worker that needs it and dropped after its last sample.
struct SharedPrompt {
  const std::vector<TokenId>* tokens = nullptr;
  std::once_flag computed;
  std::unique_ptr<KeyValueCache> cache;
  std::vector<float> logits;  // after its last token
  std::atomic<std::int64_t> users{0};

  void release() {
    if (--users == 0) cache.reset();
  }
};

class GenerationQueue {
 public:
  // One sample to make.
  struct Ticket {
    std::size_t request;
    std::uint32_t index;
    SharedPrompt* prompt;
  };

  // As many prompts as there are workers take turns, so that each worker computes another one.
  GenerationQueue(std::span<const GenerationRequest> requests, int workers);

  // Returns the next sample to make; null when there is none.
  const Ticket* next() {
    const std::size_t i = taken_++;
    return i < tickets_.size() ? &tickets_[i] : nullptr;
  }
  // The longest answer that any request allows.
  std::int64_t longest_answer() const { return longest_answer_; }

  void finish(GeneratedSample sample) {
    const std::lock_guard lock(mutex_);
    finished_.push_back(std::move(sample));
  }
  std::deque<GeneratedSample> take_finished() {
    const std::lock_guard lock(mutex_);
    return std::exchange(finished_, {});
  }

 private:
  std::map<std::vector<TokenId>, SharedPrompt> prompts_;
  std::vector<Ticket> tickets_;
  std::int64_t longest_answer_ = 0;
  std::atomic<std::size_t> taken_{0};
  std::mutex mutex_;
  std::deque<GeneratedSample> finished_;
};

}  // namespace krl::libtorch
