#include "plugins/policies/libtorch/generation/batching/continuous_generator.hpp"

#include <deque>
#include <exception>
#include <optional>
#include <utility>

namespace krl::libtorch {

ContinuousGenerator::ContinuousGenerator(std::unique_ptr<BatchDecoder> decoder, TokenTexts texts,
                                         Scheduler::Options options)
    : decoder_(std::move(decoder)),
      scheduler_(*decoder_, std::move(texts), options),
      driver_([this] { drive(); }) {}

ContinuousGenerator::~ContinuousGenerator() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  arrived_.notify_all();
  driver_.join();
}

// A call from its arrival until the driver has let go of it, however it ends.
class ContinuousGenerator::Visit {
 public:
  explicit Visit(ContinuousGenerator& generator) : generator_(generator) {
    generator.decoder_->weights_ready();
    const std::lock_guard lock(generator.mutex_);
    generator.arrivals_.push_back(call_);
  }
  ~Visit() {
    call_->leave();
    generator_.wake();
    call_->wait_detached();
  }
  Visit(const Visit&) = delete;

  void add(std::span<const GenerationRequest> requests) {
    call_->add(requests);
    generator_.wake();
  }
  void close() { call_->close(); }
  bool unfinished() const { return call_->unfinished(); }

  // Delivers finished samples; returns false at the end.
  bool serve(const Deliver& deliver, const Poll& poll) {
    std::deque<GeneratedSample> finished;
    if (!call_->wait(finished)) return false;
    for (const GeneratedSample& sample : finished) deliver(sample);
    poll();
    return true;
  }

 private:
  ContinuousGenerator& generator_;
  std::shared_ptr<GenerationCall> call_ = std::make_shared<GenerationCall>();
};

void ContinuousGenerator::run(std::span<const GenerationRequest> requests, const Deliver& deliver,
                              const Poll& poll) {
  Visit call(*this);
  call.add(requests);
  call.close();
  while (call.serve(deliver, poll)) {
  }
}

void ContinuousGenerator::run_stream(const NextRequest& next, const Deliver& deliver,
                                     const Poll& poll) {
  std::deque<GenerationRequest> requests;  // outlive the call, and stay where they are
  Visit call(*this);
  for (;;) {
    const bool wait = !call.unfinished();
    std::optional<GenerationRequest> request = next(wait);
    if (request) {
      requests.push_back(std::move(*request));
      call.add({&requests.back(), 1});
      continue;
    }
    if (wait) return;
    call.serve(deliver, poll);
  }
}

void ContinuousGenerator::wake() {
  const std::lock_guard lock(mutex_);
  woken_ = true;
  arrived_.notify_all();
}

void ContinuousGenerator::release() {
  std::unique_lock lock(mutex_);
  release_ = true;
  arrived_.notify_all();
  released_.wait(lock, [&] { return !release_; });
}

void ContinuousGenerator::drive() {
  bool busy = false;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      arrived_.wait(lock, [&] { return busy || woken_ || stop_ || release_; });
      woken_ = false;
      if (stop_) return;
      if (release_ && !busy) {
        try {
          scheduler_.release();
        } catch (...) {
          scheduler_.fail(std::current_exception());
        }
        release_ = false;
        released_.notify_all();
      }
      for (auto& call : arrivals_) scheduler_.add(std::move(call));
      arrivals_.clear();
    }
    try {
      busy = scheduler_.round();
    } catch (...) {
      scheduler_.fail(std::current_exception());
      busy = false;
    }
  }
}

}  // namespace krl::libtorch
