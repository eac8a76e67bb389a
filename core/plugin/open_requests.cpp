#include "core/plugin/open_requests.hpp"

#include <algorithm>
#include <utility>

namespace krl {

OpenRequests::OpenRequests(const AnswerSink& sink)
    : sink_(sink),
      of_try_{[this](std::size_t request, std::uint32_t sample, Answer answer) {
                answered(request, sample, std::move(answer));
              },
              [this](std::size_t request, Error why) { lost(request, std::move(why)); }} {}

void OpenRequests::add(const SampleRequest& request) {
  const std::lock_guard lock(mutex_);
  asked_.push_back(requests_.size());
  requests_.push_back({&request, std::vector<bool>(request.samples, false)});
}

std::vector<const SampleRequest*> OpenRequests::begin_try() {
  const std::lock_guard lock(mutex_);
  progressed_ = false;
  asked_.clear();
  std::vector<const SampleRequest*> missing;
  for (std::size_t number = 0; number < requests_.size(); ++number) {
    const Open& open = requests_[number];
    const auto& answered = open.answered;
    if (open.lost || std::find(answered.begin(), answered.end(), false) == answered.end()) continue;
    asked_.push_back(number);
    missing.push_back(open.request);
  }
  return missing;
}

bool OpenRequests::progressed() const {
  const std::lock_guard lock(mutex_);
  return progressed_;
}

void OpenRequests::answered(std::size_t request, std::uint32_t sample, Answer answer) {
  std::unique_lock lock(mutex_);
  const std::size_t number = asked_[request];
  if (requests_[number].answered[sample]) return;
  requests_[number].answered[sample] = true;
  progressed_ = true;
  lock.unlock();
  sink_.answered(number, sample, std::move(answer));
}

void OpenRequests::lost(std::size_t request, Error why) {
  std::unique_lock lock(mutex_);
  const std::size_t number = asked_[request];
  requests_[number].lost = progressed_ = true;
  lock.unlock();
  sink_.lost(number, std::move(why));
}

}  // namespace krl
