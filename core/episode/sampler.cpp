#include "core/episode/sampler.hpp"

namespace krl::core {
namespace {

double seconds_between(LoadMeter::Clock::time_point from, LoadMeter::Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

}  // namespace

bool loses_turns(const Error& error) {
  return error.code == Code::kUnavailable || error.code == Code::kDeadlineExceeded;
}

std::int64_t SamplingSetup::deadline_ns() const {
  if (answer_timeout_s == 0) return 0;
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::nanoseconds(now + std::chrono::seconds(answer_timeout_s)).count();
}

void LoadMeter::taken(Clock::time_point asked) {
  const auto now = Clock::now();
  const std::lock_guard lock(mutex_);
  advance(now);
  ++in_flight_;
  ++taken_;
  wait_seconds_ += seconds_between(asked, now);
}

void LoadMeter::answered() {
  const std::lock_guard lock(mutex_);
  advance(Clock::now());
  --in_flight_;
}

SamplerLoad LoadMeter::load() const {
  const std::lock_guard lock(mutex_);
  return {busy_seconds_ > 0 ? answer_seconds_ / busy_seconds_ : 0,
          taken_ > 0 ? wait_seconds_ / taken_ : 0};
}

void LoadMeter::advance(Clock::time_point now) {
  if (in_flight_ > 0) {
    const double seconds = seconds_between(last_, now);
    busy_seconds_ += seconds;
    answer_seconds_ += seconds * in_flight_;
  }
  last_ = now;
}

void Sampler::leave() {
  --live_;
  left();
}

Result<Reply> Sampler::sample(EpisodeRequest request, std::size_t order, Yield yield) {
  Result<Reply> reply = suspend<Result<Reply>>(io_, yield, [&](auto resume) {
    enqueue({std::move(request), order, LoadMeter::Clock::now(), std::move(resume)});
  });
  on_answered_();
  return reply;
}

Result<Reply> Sampler::reply_for(const Error& error) {
  if (loses_turns(error)) return Reply{{}, error};
  return failure(error);
}

std::unique_ptr<Sampler> make_sampler(Batching batching, boost::asio::io_context& io,
                                      boost::asio::thread_pool& pool, const SamplingSetup& setup,
                                      Sampler::OnAnswered on_answered) {
  if (batching == Batching::kContinuous)
    return make_continuous_sampler(io, pool, setup, std::move(on_answered));
  return make_wave_sampler(
      io, pool, setup, std::move(on_answered),
      batching == Batching::kInTurns ? WaveContinues::kWithTheWave : WaveContinues::kWhenAnswered);
}

}  // namespace krl::core
