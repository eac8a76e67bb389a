// One call of a generator: its remaining requests, and the results on their way to the caller.
// Shared by the caller's thread and the one that drives the device; the members' comments state
// which thread may use them.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <span>
#include <vector>

#include "plugins/policies/libtorch/generation/text_generator.hpp"

namespace krl::libtorch {

class GenerationCall {
 public:
  // One sample to make.
  struct Ticket {
    const GenerationRequest* request;
    std::size_t number;  // index of the request in its call
    std::uint32_t index;
  };

  // The caller asks for all samples of these requests, which stay where they are until the driver
  // has detached.
  void add(std::span<const GenerationRequest> requests);
  // No more requests will come.
  void close();
  // True if samples are asked for that have not been taken by wait().
  bool unfinished() const;
  // Waits a few milliseconds at most and takes finished samples. Returns false when all have been
  // taken and no more will come. Throws the error passed to fail().
  bool wait(std::deque<GeneratedSample>& finished);
  // The caller leaves and needs nothing more.
  void leave();
  // Returns when the driver has let go of the requests.
  void wait_detached();

  // The driver's part begins here. Returns the samples to start; those of one prompt that came
  // together are consecutive.
  std::deque<Ticket>& waiting();
  void finish(GeneratedSample sample);
  void fail(std::exception_ptr error);
  // True if nothing more is needed: the call failed, or the caller leaves.
  bool cancelled() const;
  // No more requests will come, and none is waiting.
  bool exhausted();
  // The driver will not touch the call again.
  void detach();

 private:
  std::deque<Ticket> waiting_;  // the driver's

  mutable std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  std::vector<Ticket> arrived_;
  std::deque<GeneratedSample> finished_;
  std::size_t requests_ = 0, unfinished_ = 0;
  std::exception_ptr error_;
  bool closed_ = false, left_ = false, detached_ = false;
};

}  // namespace krl::libtorch
