#include "plugins/policies/libtorch/generation/batching/generation_call.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

namespace krl::libtorch {
namespace {

// Returns all samples of the requests, grouped by prompt, in the order of first appearance.
std::vector<GenerationCall::Ticket> tickets_of(std::span<const GenerationRequest> requests,
                                               std::size_t number) {
  const auto before = [](const GenerationRequest* a, const GenerationRequest* b) {
    return a->prompt < b->prompt;
  };
  std::map<const GenerationRequest*, std::size_t, decltype(before)> groups(before);
  using Ticket = GenerationCall::Ticket;
  std::vector<std::vector<Ticket>> tickets;
  for (const GenerationRequest& request : requests) {
    const auto [group, added] = groups.try_emplace(&request, tickets.size());
    if (added) tickets.emplace_back();
    for (std::uint32_t k = 0; k < request.samples; ++k) {
      tickets[group->second].push_back({&request, number, k});
    }
    ++number;
  }
  std::vector<Ticket> all;
  for (const auto& group : tickets) all.insert(all.end(), group.begin(), group.end());
  return all;
}

}  // namespace

void GenerationCall::add(std::span<const GenerationRequest> requests) {
  const std::lock_guard lock(mutex_);
  const std::vector<Ticket> tickets = tickets_of(requests, requests_);
  requests_ += requests.size();
  unfinished_ += tickets.size();
  arrived_.insert(arrived_.end(), tickets.begin(), tickets.end());
}

void GenerationCall::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
}

bool GenerationCall::unfinished() const {
  const std::lock_guard lock(mutex_);
  return unfinished_ > 0 || !finished_.empty();
}

bool GenerationCall::wait(std::deque<GeneratedSample>& finished) {
  constexpr std::chrono::milliseconds kPollInterval(5);
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, kPollInterval,
                    [&] { return error_ || !finished_.empty() || unfinished_ == 0; });
  if (error_) std::rethrow_exception(error_);
  finished = std::exchange(finished_, {});
  return !closed_ || unfinished_ > 0 || !finished.empty();
}

void GenerationCall::leave() {
  const std::lock_guard lock(mutex_);
  left_ = true;
}

void GenerationCall::wait_detached() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return detached_; });
}

std::deque<GenerationCall::Ticket>& GenerationCall::waiting() {
  const std::lock_guard lock(mutex_);
  waiting_.insert(waiting_.end(), arrived_.begin(), arrived_.end());
  arrived_.clear();
  return waiting_;
}

void GenerationCall::finish(GeneratedSample sample) {
  const std::lock_guard lock(mutex_);
  finished_.push_back(std::move(sample));
  --unfinished_;
  changed_.notify_all();
}

void GenerationCall::fail(std::exception_ptr error) {
  const std::lock_guard lock(mutex_);
  if (!error_) error_ = std::move(error);
  changed_.notify_all();
}

bool GenerationCall::cancelled() const {
  const std::lock_guard lock(mutex_);
  return left_ || error_;
}

bool GenerationCall::exhausted() {
  const std::lock_guard lock(mutex_);
  return closed_ && waiting_.empty() && arrived_.empty();
}

void GenerationCall::detach() {
  const std::lock_guard lock(mutex_);
  detached_ = true;
  changed_.notify_all();
}

}  // namespace krl::libtorch
