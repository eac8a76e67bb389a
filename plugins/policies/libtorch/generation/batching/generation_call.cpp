#include "generation/batching/generation_call.hpp"

#include <chrono>
#include <map>
#include <utility>

namespace krl::libtorch {

GenerationCall::GenerationCall(std::span<const GenerationRequest> requests) : requests_(requests) {
  std::map<std::span<const TokenId>, std::size_t, decltype([](auto a, auto b) {
             return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
           })>
      groups;
  std::vector<std::vector<Ticket>> tickets;  // by prompt, in the order of first appearance
  for (std::size_t r = 0; r < requests.size(); ++r) {
    const auto [entry, added] = groups.try_emplace(requests[r].prompt, tickets.size());
    if (added) tickets.emplace_back();
    for (std::uint32_t k = 0; k < requests[r].samples; ++k) {
      tickets[entry->second].push_back({r, k});
    }
  }
  for (const auto& group : tickets) tickets_.insert(tickets_.end(), group.begin(), group.end());
  unfinished_ = tickets_.size();
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

void GenerationCall::cancel() {
  const std::lock_guard lock(mutex_);
  cancelled_ = true;
}

bool GenerationCall::cancelled() const {
  const std::lock_guard lock(mutex_);
  return cancelled_ || error_;
}

void GenerationCall::detach() {
  const std::lock_guard lock(mutex_);
  detached_ = true;
  changed_.notify_all();
}

bool GenerationCall::wait(std::deque<GeneratedSample>& finished) {
  constexpr std::chrono::milliseconds kPollInterval(5);
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, kPollInterval,
                    [&] { return error_ || !finished_.empty() || unfinished_ == 0; });
  if (error_) std::rethrow_exception(error_);
  finished = std::exchange(finished_, {});
  return unfinished_ > 0 || !finished.empty();
}

void GenerationCall::wait_detached() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return detached_; });
}

}  // namespace krl::libtorch
