#include "core/episode/sampler.hpp"

namespace krl::core {
namespace {

double seconds_between(LoadMeter::Clock::time_point from, LoadMeter::Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

std::int64_t deadline_ns(std::int64_t timeout_s) {
  if (timeout_s == 0) return 0;
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::nanoseconds(now + std::chrono::seconds(timeout_s)).count();
}

// The reply to a request whose call has failed.
Result<Reply> reply_for(const Error& error) {
  if (loses_turns(error)) return Reply{{}, error};
  return failure(error);
}

}  // namespace

bool loses_turns(const Error& error) {
  return error.code == Code::kUnavailable || error.code == Code::kDeadlineExceeded;
}

void LoadMeter::taken(Clock::time_point asked) {
  const auto now = Clock::now();
  const std::lock_guard lock(mutex_);
  advance(now);
  ++in_flight_;
  ++sums_.taken;
  sums_.wait_seconds += seconds_between(asked, now);
}

void LoadMeter::answered() {
  const std::lock_guard lock(mutex_);
  advance(Clock::now());
  --in_flight_;
}

SamplerLoad LoadMeter::take() {
  const std::lock_guard lock(mutex_);
  const Sums sums = std::exchange(sums_, {});
  return {sums.busy_seconds > 0 ? sums.answer_seconds / sums.busy_seconds : 0,
          sums.taken > 0 ? sums.wait_seconds / sums.taken : 0};
}

void LoadMeter::advance(Clock::time_point now) {
  if (in_flight_ > 0) {
    const double seconds = seconds_between(last_, now);
    sums_.busy_seconds += seconds;
    sums_.answer_seconds += seconds * in_flight_;
  }
  last_ = now;
}

RequestQueue::RequestQueue(const SamplingSetup& setup)
    : setup_(setup),
      sink_{[this](std::size_t request, std::uint32_t sample, Answer answer) {
              std::unique_lock lock(mutex_);
              const std::size_t waiting = taken_[request].waiting[sample];
              lock.unlock();
              reply(waiting, {std::move(answer), std::nullopt});
            },
            [this](std::size_t request, const Error& why) { lose(request, why); }} {}

void RequestQueue::add(Waiting waiting) {
  const std::lock_guard lock(mutex_);
  if (!status_) return waiting.resume(reply_for(status_.error()));
  waiting_.push_back(std::move(waiting));
}

const SampleRequest* RequestQueue::take() {
  const std::lock_guard lock(mutex_);
  if (next_ == waiting_.size()) return nullptr;
  const EpisodeRequest& first = waiting_[next_].request;
  const std::uint64_t shared = setup_.shares_prompts ? first.shared_seed : 0;
  Taken& taken = taken_.emplace_back(Taken{first.request, {}});
  if (shared != 0) taken.request.seed = shared;
  taken.request.deadline_ns = deadline_ns(setup_.answer_timeout_s);
  do {
    setup_.meter.taken(waiting_[next_].since);
    taken.waiting.push_back(next_++);
  } while (shared != 0 && next_ < waiting_.size() && waiting_[next_].request.shared_seed == shared);
  taken.request.n_samples = static_cast<std::uint32_t>(taken.waiting.size());
  return &taken.request;  // stays where it is, as others are added to the deque
}

void RequestQueue::reply(std::size_t waiting, Reply reply) {
  std::unique_lock lock(mutex_);
  const auto resume = std::exchange(waiting_[waiting].resume, nullptr);
  lock.unlock();
  if (!resume) return;
  setup_.meter.answered();
  resume(std::move(reply));
}

void RequestQueue::lose(std::size_t request, const Error& why) {
  std::unique_lock lock(mutex_);
  const std::vector<std::size_t> waiting = taken_[request].waiting;
  lock.unlock();
  for (const std::size_t i : waiting) reply(i, {{}, why});
}

void RequestQueue::end(const Error& error) {
  const std::lock_guard lock(mutex_);
  status_ = failure(error);
  for (std::size_t i = 0; i < waiting_.size(); ++i) {
    if (!waiting_[i].resume) continue;
    if (i < next_) setup_.meter.answered();
    std::exchange(waiting_[i].resume, nullptr)(reply_for(error));
  }
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
