// One call of a generator: what it still wants, and what is on its way to the caller. Shared by the
// caller's thread and the one that drives the device; what each may touch is said below.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <span>
#include <vector>

#include "generation/text_generator.hpp"

namespace krl::libtorch {

class GenerationCall {
 public:
  // One sample to make.
  struct Ticket {
    std::size_t request;
    std::uint32_t index;
  };

  explicit GenerationCall(std::span<const GenerationRequest> requests);

  // --- The driver's.
  const GenerationRequest& request(const Ticket& ticket) const { return requests_[ticket.request]; }
  // The next sample to start, those of one prompt one after the other; null when there is none.
  const Ticket* next() const { return taken_ < tickets_.size() ? &tickets_[taken_] : nullptr; }
  void take() { ++taken_; }
  std::size_t waiting() const { return tickets_.size() - taken_; }
  std::span<const Ticket> waiting_tickets() const {
    return std::span<const Ticket>(tickets_).subspan(taken_);
  }

  // --- Thread-safe.
  void finish(GeneratedSample sample);
  void fail(std::exception_ptr error);
  // The caller has gone: nothing more will be delivered, and after detach() the requests are not
  // there any more.
  void cancel();
  bool cancelled() const;
  void detach();

  // --- The caller's.
  // Waits a few milliseconds at most and takes what is finished; false when all has been taken.
  // Throws what fail() was given.
  bool wait(std::deque<GeneratedSample>& finished);
  // Waits until the driver has let go of a cancelled call.
  void wait_detached();

 private:
  std::span<const GenerationRequest> requests_;
  std::vector<Ticket> tickets_;
  std::size_t taken_ = 0;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<GeneratedSample> finished_;
  std::size_t unfinished_;
  std::exception_ptr error_;
  bool cancelled_ = false, detached_ = false;
};

}  // namespace krl::libtorch
