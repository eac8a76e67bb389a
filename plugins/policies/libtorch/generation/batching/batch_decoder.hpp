// A device that decodes samples in parallel, one token per step. Scheduler decides what runs on it;
// this only computes.
//
// A slot is a place in the cache of keys and values. All work is done in the order of the calls,
// and advance() does not wait for it, so that the device is always busy. One thread at a time,
// except for weights_ready().
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plugins/policies/libtorch/generation/cuda/device_types.hpp"
#include "plugins/policies/libtorch/generation/token_texts.hpp"

namespace krl::libtorch {

// Samples that start together.
struct StartBatch {
  // A prompt that is computed once and put into the slots of all its samples. The prefill covers
  // its first n - 1 of n tokens: the first step computes the last one, and draws the first token of
  // the answer from it.
  struct Prefill {
    const std::vector<TokenId>* prompt;
    std::vector<int> slots;
  };
  std::vector<Prefill> prefills;
  std::vector<PromptCopy> copies;  // copies from slots that keep the prompt which they hold
  std::vector<SlotStart> starts;
};

// The tokens drawn in some steps: token and logprob of step t in slot s are at t · slots + s, and
// are valid if the slot took part and had not ended before.
struct DrawnTokens {
  std::span<const std::int32_t> tokens;
  std::span<const float> logprobs;  // not finite if the logits were not
  int steps = 0, slots = 0;
};

class BatchDecoder {
 public:
  struct Capacity {
    std::int64_t slots = 0;
    // Positions per slot: the tokens of a prompt and its answer together.
    std::int64_t positions = 0;
  };

  virtual ~BatchDecoder() = default;

  // Makes as many of the slots as memory allows, of at least `positions`, and returns the new
  // capacity; the contents of slots are lost. Throws krl::Failure (KRL_RESOURCE_EXHAUSTED) if there
  // is no room for one.
  virtual Capacity reserve(std::int64_t slots, std::int64_t positions) = 0;

  // Gives the memory of the slots back.
  virtual void release() = 0;

  virtual void start(const StartBatch& batch) = 0;

  // `steps` tokens for each of the slots that has not ended by then. At most kMostSteps.
  virtual void advance(std::span<const int> slots, int steps) = 0;
  static constexpr int kMostSteps = 16;
  // Limit on calls of advance() before collect() is called.
  static constexpr int kMostUnderWay = 2;

  // Waits for the oldest advance() that was not collected. Valid until the next advance().
  virtual DrawnTokens collect() = 0;

  // Forgets the samples in progress, after an error.
  virtual void reset() = 0;

  // Waits until this thread's changes of the weights are visible to the decoder. Thread-safe.
  virtual void weights_ready() = 0;
};

}  // namespace krl::libtorch
