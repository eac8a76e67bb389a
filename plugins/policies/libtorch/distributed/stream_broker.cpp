#include "plugins/policies/libtorch/distributed/stream_broker.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "plugins/policies/libtorch/distributed/call_rows.hpp"

namespace krl::libtorch {
namespace {

// A rank may have this many more requests than the least busy one, to keep those of a prompt
// together.
constexpr std::size_t kTogether = 8;
// The host does not announce new requests, so they are polled.
constexpr std::chrono::milliseconds kLookAgain{2};

}  // namespace

StreamBroker::StreamBroker(RankGroup& group, const RequestSource& source, const SampleSink& sink)
    : group_(group),
      host_source_(source),
      host_sink_(sink),
      source_c_{sizeof source_c_, 0, this, next},
      ranks_(static_cast<std::size_t>(group.size())) {
  for (int r = 0; r < group.size(); ++r) answers_.emplace_back(*this, r);
}

krl_status StreamBroker::next(const krl_request_source* c, std::int32_t wait,
                              const krl_request** out) {
  try {
    *out = static_cast<StreamBroker*>(c->ctx)->take(wait != 0);
    return KRL_OK;
  } catch (const Failure& failure) {
    return failure.code();
  }
}

const krl_request* StreamBroker::take(bool wait) {
  std::unique_lock lock(mutex_);
  while (true) {
    if (stopped_ || group_.lost()) throw Failure(KRL_CANCELLED, "cancelled");
    take_all_there_are();
    if (!own_.empty()) {
      const krl_request* request = own_.front();
      own_.pop_front();
      return request;
    }
    if (!wait) return nullptr;
    if (others_idle()) {  // and this rank waits: only now may the host be waited for
      const std::optional<Request> request = host_source_.next(true);
      if (!request) return nullptr;
      assign(*request);
    } else {
      changed_.wait_for(lock, kLookAgain);
    }
  }
}

void StreamBroker::take_all_there_are() {
  while (const std::optional<Request> request = host_source_.next(false)) assign(*request);
}

void StreamBroker::assign(const Request& request) {
  std::string prompt = prompt_key(request);
  const int chosen = rank_for(prompt);
  Rank& rank = ranks_[static_cast<std::size_t>(chosen)];
  rank.requests.push_back({taken_++, request.n_samples()});
  rank.under_way += request.n_samples();
  last_prompt_ = std::move(prompt);
  last_rank_ = chosen;
  if (chosen == 0) {
    own_.push_back(request.c());
    return;
  }
  MessageWriter message;
  message.number(static_cast<std::uint8_t>(StreamMessage::kRequest));
  write_request(message, request);
  group_.send(chosen, std::move(message).take());
}

int StreamBroker::rank_for(const std::string& prompt) const {
  const auto least =
      std::min_element(ranks_.begin(), ranks_.end(),
                       [](const Rank& a, const Rank& b) { return a.under_way < b.under_way; });
  const Rank& last = ranks_[static_cast<std::size_t>(last_rank_)];
  const bool stays = prompt == last_prompt_ && last.under_way < least->under_way + kTogether;
  return stays ? last_rank_ : static_cast<int>(least - ranks_.begin());
}

bool StreamBroker::others_idle() const {
  return std::all_of(ranks_.begin() + 1, ranks_.end(),
                     [](const Rank& rank) { return rank.under_way == 0; });
}

void StreamBroker::answered(int rank, krl_sample sample) {
  {
    const std::lock_guard lock(mutex_);
    Rank& from = ranks_[static_cast<std::size_t>(rank)];
    Assigned& request = from.requests.at(sample.request);
    --request.under_way;
    --from.under_way;
    sample.request = request.number;
    host_sink_.put(sample);
    if (!stopped_) take_all_there_are();
  }
  changed_.notify_all();
}

void StreamBroker::failed(int rank, std::uint32_t request, krl_status status,
                          std::string_view why) {
  {
    const std::lock_guard lock(mutex_);
    Rank& from = ranks_[static_cast<std::size_t>(rank)];
    Assigned& failed = from.requests.at(request);
    from.under_way -= std::exchange(failed.under_way, 0);
    host_sink_.fail(failed.number, status, why);
    if (!stopped_) take_all_there_are();
  }
  changed_.notify_all();
}

void StreamBroker::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
}

void StreamBroker::end_others() {
  const std::lock_guard lock(mutex_);
  MessageWriter message;
  message.number(static_cast<std::uint8_t>(StreamMessage::kEnd));
  const std::string bytes = std::move(message).take();
  for (int r = 1; r < group_.size(); ++r) group_.send(r, bytes);
}

}  // namespace krl::libtorch
