#include "core/episode/wave_sampler.hpp"

#include <algorithm>
#include <memory>

namespace krl {

WaveSampler::WaveSampler(boost::asio::io_context& io, boost::asio::thread_pool& pool,
                         const Policy& policy, Sampling sampling, OnAnswered on_answered, GoOn go_on)
    : io_(io),
      pool_(pool),
      policy_(policy),
      sampling_(std::move(sampling)),
      on_answered_(std::move(on_answered)),
      go_on_(go_on) {}

Result<Answer> WaveSampler::sample(SampleRequest request, std::size_t order, Yield yield) {
  Result<Answer> answer = suspend<Result<Answer>>(io_, yield, [&](auto resume) {
    waiting_.push_back({std::move(request), order, LoadMeter::Clock::now(), std::move(resume)});
    dispatch_when_complete();
  });
  on_answered_();
  return answer;
}

void WaveSampler::leave() {
  --live_;
  dispatch_when_complete();
}

void WaveSampler::dispatch_when_complete() {
  if (!waiting_.empty() && waiting_.size() == live_) dispatch();
}

void WaveSampler::dispatch() {
  std::sort(waiting_.begin(), waiting_.end(),
            [](const Waiting& a, const Waiting& b) { return a.order < b.order; });
  auto wave = std::make_shared<std::vector<Waiting>>(std::move(waiting_));
  waiting_.clear();
  boost::asio::post(pool_, [this, wave] { answer(*wave); });
}

// On a thread of the pool.
void WaveSampler::answer(std::vector<Waiting>& wave) {
  std::vector<SampleRequest> requests;
  requests.reserve(wave.size());
  for (Waiting& w : wave) {
    requests.push_back(std::move(w.request));
    meter_.taken(w.since);
  }
  const auto resume = [&](std::size_t index, Answer answer) {
    std::exchange(wave[index].resume, nullptr)(std::move(answer));
  };
  std::vector<std::pair<std::size_t, Answer>> held;
  const auto on_answer = [&](std::size_t index, Answer answer) {
    meter_.answered();
    if (go_on_ == GoOn::kWhenAnswered) return resume(index, std::move(answer));
    held.emplace_back(index, std::move(answer));
  };
  const Status status = policy_.sample(requests, sampling_, on_answer);
  for (auto& [index, answer] : held) resume(index, std::move(answer));
  for (Waiting& w : wave) {  // those that the policy left without an answer
    if (!w.resume) continue;
    meter_.answered();
    w.resume(failure(status ? Error{Code::kInternal, "no answer"} : status.error()));
  }
}

}  // namespace krl
