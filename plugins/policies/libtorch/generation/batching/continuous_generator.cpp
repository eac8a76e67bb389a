#include "generation/batching/continuous_generator.hpp"

#include <exception>
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

void ContinuousGenerator::run(std::span<const GenerationRequest> requests, const Deliver& deliver,
                              const Poll& poll) {
  decoder_->weights_ready();
  const auto call = std::make_shared<GenerationCall>(requests);
  {
    const std::lock_guard lock(mutex_);
    arrivals_.push_back(call);
  }
  arrived_.notify_all();
  // The driver looks into `requests` until it lets go, however this ends.
  struct Leave {
    GenerationCall& call;
    ~Leave() {
      call.cancel();
      call.wait_detached();
    }
  } leave{*call};
  std::deque<GeneratedSample> finished;
  while (call->wait(finished)) {
    for (const GeneratedSample& sample : finished) deliver(sample);
    finished.clear();
    poll();
  }
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
      arrived_.wait(lock, [&] { return busy || stop_ || release_ || !arrivals_.empty(); });
      if (stop_) return;
      if (release_ && !busy) {
        scheduler_.release();
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
