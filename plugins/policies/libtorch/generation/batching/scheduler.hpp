// Continuous batching: assigns samples to the slots of a BatchDecoder. A free slot takes the next
// sample in the order of the calls, while the others continue.
//
// The host works one advance() behind the device: while the device computes the next steps, the
// tokens of the last ones are read, finished samples delivered and their slots refilled. A slot
// that ends idles until then.
//
// A slot keeps its prompt after its sample has ended, so the next sample with the same prompt
// reuses it, and others copy it instead of computing it. One thread.
#pragma once

#include <deque>
#include <exception>
#include <memory>
#include <set>
#include <vector>

#include "plugins/policies/libtorch/generation/batching/batch_decoder.hpp"
#include "plugins/policies/libtorch/generation/batching/generation_call.hpp"

namespace krl::libtorch {

class Scheduler {
 public:
  struct Options {
    std::int64_t most_slots = 256;
    std::int64_t context = 0;  // the most tokens of a prompt and its answer together
    int steps = 8;             // steps of one advance(), between two checks for ended samples
  };

  Scheduler(BatchDecoder& decoder, TokenTexts texts, Options options);

  // REQUIRES: checked requests.
  void add(std::shared_ptr<GenerationCall> call);

  // Starts waiting samples, advances, and takes results. Returns false when nothing is left to do;
  // then the weights may change. Errors of the decoder are thrown.
  bool round();

  // Ends all calls with this error.
  void fail(std::exception_ptr error);

  // Gives the memory of the slots back. REQUIRES: no calls; round() has returned false.
  void release();

 private:
  struct Growing;                              // a sample in a slot
  using Prompt = const std::vector<TokenId>*;  // one of prompts_

  struct Slot {
    std::shared_ptr<Growing> sample;  // null = free
    Prompt held = nullptr;
  };
  // A waiting sample and the slot it will have.
  struct Placement {
    std::shared_ptr<GenerationCall> call;
    GenerationCall::Ticket ticket;
    Prompt prompt;
    int slot = -1;
    bool held = false;  // the slot has the prompt
  };
  struct UnderWay {
    std::vector<std::pair<int, std::shared_ptr<Growing>>> samples;
    int steps;
  };

  bool growing() const;
  std::int64_t positions_of(const GenerationRequest& request) const;
  void drop_ended_calls();
  // Returns false while growing samples have to end first, because the next sample needs larger
  // slots.
  bool make_room();
  void fill_slots();
  std::vector<Placement> take_waiting(std::size_t most);
  void place(std::vector<Placement>& placements);
  StartBatch start_batch(const std::vector<Placement>& placements) const;
  void occupy(const Placement& placement);
  bool advance();
  void take_drawn();
  // Adds a token; true if it is the last one.
  bool grow(Growing& growing, TokenId token, float logprob) const;

  BatchDecoder& decoder_;
  TokenTexts texts_;
  Options options_;
  std::vector<std::shared_ptr<GenerationCall>> calls_;  // in the order of arrival
  std::set<std::vector<TokenId>> prompts_;              // prompts that slots may hold
  std::vector<Slot> slots_;
  BatchDecoder::Capacity capacity_;
  bool memory_is_full_ = false;
  std::deque<UnderWay> under_way_;
};

}  // namespace krl::libtorch
