// Answers the requests of any number of callers in one batch that runs as long as there is work: a
// separate thread drives the device, and results are delivered on the callers' threads.
//
// The weights may change while no call is running. run() is thread-safe; calls that arrive while
// others run join their batch. The answer to a request depends on its seed, not on the rest of the
// batch, as far as the decoder's arithmetic allows.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "plugins/policies/libtorch/generation/batching/scheduler.hpp"

namespace krl::libtorch {

class ContinuousGenerator final : public TextGenerator {
 public:
  ContinuousGenerator(std::unique_ptr<BatchDecoder> decoder, TokenTexts texts,
                      Scheduler::Options options);
  // REQUIRES: no call is running.
  ~ContinuousGenerator() override;

  // Exceptions of `deliver` or `poll` end only this call.
  void run(std::span<const GenerationRequest> requests, const Deliver& deliver,
           const Poll& poll) override;
  void run_stream(const NextRequest& next, const Deliver& deliver, const Poll& poll) override;

  // Frees the memory of keys and values for other uses until the next call. REQUIRES: no call is
  // running.
  void release();

 private:
  class Visit;
  void wake();
  void drive();

  std::unique_ptr<BatchDecoder> decoder_;
  Scheduler scheduler_;  // the driver's
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<std::shared_ptr<GenerationCall>> arrivals_;
  bool woken_ = false, stop_ = false, release_ = false;
  std::condition_variable released_;
  std::thread driver_;
};

}  // namespace krl::libtorch
