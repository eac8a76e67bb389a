#include "core/plugin/policy_calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <kernelrl/growth.hpp>
#include <utility>

#include "core/plugin/instance.hpp"
#include "core/plugin/views.hpp"

namespace krl::core {
namespace {

// Rounding may bring the logarithm of a probability of 1 above 0.
constexpr float kLargestLogprob = 1e-4F;

// Allows for the transfer of an answer that was finished in time.
constexpr std::chrono::seconds kGrace{1};

// Describes the error in the properties of a sample; empty if there is none.
std::string complaint_about(const krl_sample& s) {
  if (s.logprobs.size != s.tokens.size)
    return fmt::format("{} tokens with {} logprobs", s.tokens.size, s.logprobs.size);
  for (std::size_t i = 0; i < s.logprobs.size; ++i) {
    if (!std::isfinite(s.logprobs.data[i]) || s.logprobs.data[i] > kLargestLogprob)
      return fmt::format("logprob {} of token {}", s.logprobs.data[i], i);
  }
  for (std::size_t i = 0; i < s.n_spans; ++i) {
    const std::string fault = fault_in(s.spans[i]);
    if (!fault.empty()) return fmt::format("span {} {}", i, fault);
    const std::uint32_t first = s.spans[i]->first_token;
    const bool in_order = i == 0 ? first == 0 : first > s.spans[i - 1]->first_token;
    if (!in_order || first >= s.tokens.size)
      return fmt::format("span {} begins at token {} of {}", i, first, s.tokens.size);
  }
  return {};
}

bool all_true(const std::vector<bool>& marks) {
  return std::ranges::find(marks, false) == marks.end();
}

bool is_over(std::int64_t deadline_ns) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return deadline_ns != 0 && now > std::chrono::nanoseconds(deadline_ns) + kGrace;
}

Answer answer_of(const krl_sample& s) {
  Answer answer{value_of<SampleValue>(s)};
  answer.stop_reason = std::min(answer.stop_reason, KRL_STOP_ABORTED);  // a newer plugin knows more
  return answer;
}

}  // namespace

SampleReceiver::SampleReceiver(const AnswerSink& sink, std::string who)
    : sink_(sink), who_(std::move(who)), c_{sizeof(krl_sample_sink), 0, this, put, fail} {}

void SampleReceiver::add(const SampleRequest& request) {
  const std::lock_guard lock(mutex_);
  const std::vector<bool> none(request.n_samples, false);
  requests_.push_back({&request, none, none});
}

std::vector<const SampleRequest*> SampleReceiver::begin_try(const SampleBounds& bounds) {
  const std::lock_guard lock(mutex_);
  bounds_ = bounds;
  newest_version_ = bounds.least_version;
  progressed_ = false;
  complaint_.clear();
  numbers_.clear();
  asked_ = 0;
  std::vector<const SampleRequest*> missing;
  for (std::size_t number = 0; number < requests_.size(); ++number) {
    Open& open = requests_[number];
    if (open.failed || open.late || all_true(open.answered)) continue;
    open.in_try.assign(open.answered.size(), false);
    numbers_.push_back(number);
    missing.push_back(open.request);
  }
  return missing;
}

void SampleReceiver::expect(const SampleRequest& request) {
  const std::lock_guard lock(mutex_);
  if (asked_++ < numbers_.size()) return;
  const std::vector<bool> none(request.n_samples, false);
  numbers_.push_back(requests_.size());
  requests_.push_back({&request, none, none});
}

bool SampleReceiver::progressed() const {
  const std::lock_guard lock(mutex_);
  return progressed_;
}

std::string SampleReceiver::complaint() const {
  const std::lock_guard lock(mutex_);
  return complaint_;
}

std::string SampleReceiver::missing() const {
  const std::lock_guard lock(mutex_);
  for (std::size_t r = 0; r < asked_; ++r) {
    const Open& open = requests_[numbers_[r]];
    if (open.failed || open.late || all_true(open.in_try)) continue;
    const auto at = std::ranges::find(open.in_try, false);
    const std::string which =
        open.in_try.size() == 1
            ? ""
            : fmt::format(" {} of {}", at - open.in_try.begin(), open.in_try.size());
    return fmt::format("it gave no sample{} for request {} of {}", which, r, asked_);
  }
  return {};
}

krl_status SampleReceiver::put(const krl_sample_sink* sink, const krl_sample* sample) {
  return static_cast<SampleReceiver*>(sink->ctx)->receive(sample);
}

krl_status SampleReceiver::fail(const krl_sample_sink* sink, std::uint32_t request,
                                krl_status status, krl_str why) {
  const Code code = status == KRL_OK ? Code::kInternal : code_of(status);
  const std::string text = why.size == 0 ? "it failed without a reason" : copy(why);
  return static_cast<SampleReceiver*>(sink->ctx)->lose(request, {code, text});
}

krl_status SampleReceiver::receive(const krl_sample* given) {
  std::unique_lock lock(mutex_);
  const std::string fault = fault_in(given);
  if (!accept(fault.empty() ? fault : "a sample " + fault)) return KRL_INVALID_ARGUMENT;
  const krl_sample s = whole(*given);
  std::string why = check_place(s.request, s.index);
  if (why.empty()) why = complaint_about(s);
  if (why.empty()) why = check_bounds(s);
  if (!accept(std::move(why))) return KRL_INVALID_ARGUMENT;
  const std::size_t number = numbers_[s.request];
  Open& open = requests_[number];
  open.in_try[s.index] = true;
  newest_version_ = std::max(newest_version_, s.policy_version);
  const bool is_late = is_over(open.request->deadline_ns);
  if (is_late ? std::exchange(open.late, true) : bool{open.answered[s.index]}) return KRL_OK;
  progressed_ = true;
  if (is_late) {
    lock.unlock();
    tell_lost(number, {Code::kDeadlineExceeded, "the answer came after its deadline"});
    return KRL_OK;
  }
  open.answered[s.index] = true;
  lock.unlock();
  sink_.answered(number, s.index, answer_of(s));
  return KRL_OK;
}

krl_status SampleReceiver::lose(std::uint32_t request, Error why) {
  std::unique_lock lock(mutex_);
  if (!accept(check_failure(request))) return KRL_INVALID_ARGUMENT;
  const std::size_t number = numbers_[request];
  requests_[number].failed = progressed_ = true;
  lock.unlock();
  tell_lost(number, std::move(why));
  return KRL_OK;
}

void SampleReceiver::tell_lost(std::size_t number, Error why) const {
  why.message = fmt::format("{}: {}", who_, why.message);
  sink_.lost(number, std::move(why));
}

bool SampleReceiver::accept(std::string why) {
  if (why.empty()) return true;
  complaint_ = std::move(why);
  return false;
}

std::uint64_t SampleReceiver::newest_version() const {
  const std::lock_guard lock(mutex_);
  return newest_version_;
}

std::string SampleReceiver::check_bounds(const krl_sample& s) const {
  for (std::size_t i = 0; i < s.tokens.size; ++i) {
    const std::int32_t token = s.tokens.data[i];
    if (token >= 0 && (bounds_.vocabulary == 0 || token < bounds_.vocabulary)) continue;
    const std::string of =
        bounds_.vocabulary == 0 ? "" : fmt::format(", of a vocabulary of {}", bounds_.vocabulary);
    return fmt::format("token {} of request {} is {}{}", i, s.request, token, of);
  }
  if (bounds_.has_tokens && s.stop_reason == KRL_STOP_END && s.tokens.size == 0)
    return fmt::format("a finished answer to request {} without tokens", s.request);
  if (s.policy_version < bounds_.least_version) {
    return fmt::format("a sample of version {} after one of version {}", s.policy_version,
                       bounds_.least_version);
  }
  return {};
}

std::string SampleReceiver::check_place(std::uint32_t request, std::uint32_t sample) const {
  if (request >= asked_) return fmt::format("sample of request {}, of {}", request, asked_);
  const Open& open = requests_[numbers_[request]];
  if (sample >= open.in_try.size())
    return fmt::format("sample {} of request {}, which wants {}", sample, request,
                       open.in_try.size());
  if (open.in_try[sample]) return fmt::format("two samples for request {}", request);
  if (open.failed) return fmt::format("a sample for request {}, which has failed", request);
  return {};
}

std::string SampleReceiver::check_failure(std::uint32_t request) const {
  if (request >= asked_) return fmt::format("failure of request {}, of {}", request, asked_);
  const Open& open = requests_[numbers_[request]];
  if (open.failed) return fmt::format("failure of request {}, twice", request);
  return all_true(open.in_try) ? fmt::format("failure of request {}, which was answered", request)
                               : "";
}

RequestFeed::RequestFeed(const Policy::NextRequest& next, SampleReceiver& receiver)
    : next_(next), receiver_(receiver), source_{sizeof(krl_request_source), 0, this, give_next} {}

krl_status RequestFeed::give_next(const krl_request_source* source, std::int32_t wait,
                                  const krl_request** out) {
  return static_cast<RequestFeed*>(source->ctx)->take(wait != 0, out);
}

krl_status RequestFeed::take(bool wait, const krl_request** out) {
  *out = nullptr;
  const Result<const SampleRequest*> next = next_(wait);
  if (!next) return static_cast<krl_status>(next.error().code);
  if (*next == nullptr) {
    ended_ = ended_ || wait;
    return KRL_OK;
  }
  receiver_.expect(**next);
  *out = taken_.add(**next);
  return KRL_OK;
}

}  // namespace krl::core
