#include "core/plugin/sampling_call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/plugin/text.hpp"

namespace krl {

Rows<krl_message> messages_of(const Prompt& prompt) {
  return {prompt, [](const Message& m) {
            return krl_message{sizeof(krl_message), m.role, borrow(m.text)};
          }};
}

SamplingView::SamplingView(const Sampling& s) {
  for (const std::string& text : s.stop) stop_.push_back(borrow(text));
  c_ = {sizeof(krl_sampling),
        s.max_tokens,
        s.temperature,
        s.top_p,
        s.top_k,
        static_cast<std::uint32_t>(stop_.size()),
        stop_.data()};
}

SampleReceiver::SampleReceiver(std::size_t n_requests, const Policy::OnAnswer& on_answer)
    : answered_(n_requests, false),
      on_answer_(on_answer),
      sink_{sizeof(krl_sample_sink), 0, this, put} {}

void SampleReceiver::expect_another() {
  const std::lock_guard lock(mutex_);
  answered_.push_back(false);
}

std::string SampleReceiver::complaint() const {
  const std::lock_guard lock(mutex_);
  return complaint_;
}

std::string SampleReceiver::missing() const {
  const std::lock_guard lock(mutex_);
  const auto at = std::find(answered_.begin(), answered_.end(), false);
  if (at == answered_.end()) return {};
  return fmt::format("it gave no sample for request {} of {}", at - answered_.begin(),
                     answered_.size());
}

krl_status SampleReceiver::put(const krl_sample_sink* sink, const krl_sample* sample) {
  return static_cast<SampleReceiver*>(sink->ctx)->receive(*sample);
}

krl_status SampleReceiver::receive(const krl_sample& s) {
  if (!accept(s)) return KRL_INVALID_ARGUMENT;
  on_answer_(s.request, {copy(s.text),
                         {s.prompt_tokens.data, s.prompt_tokens.data + s.prompt_tokens.size},
                         {s.tokens.data, s.tokens.data + s.tokens.size},
                         {s.logprobs.data, s.logprobs.data + s.logprobs.size},
                         static_cast<StopReason>(s.stop_reason)});
  return KRL_OK;
}

bool SampleReceiver::accept(const krl_sample& s) {
  const std::lock_guard lock(mutex_);
  if (std::string why = check(s); !why.empty()) {
    complaint_ = std::move(why);
    return false;
  }
  answered_[s.request] = true;
  return true;
}

std::string SampleReceiver::check(const krl_sample& s) const {
  if (s.request >= answered_.size())
    return fmt::format("sample of request {}, of {}", s.request, answered_.size());
  if (s.index != 0 || answered_[s.request])
    return fmt::format("two samples for request {}", s.request);
  if (s.stop_reason > KRL_STOP_LENGTH)
    return fmt::format("stop reason {} is unknown", s.stop_reason);
  if (s.logprobs.size != s.tokens.size) {
    return fmt::format("{} tokens with {} logprobs", s.tokens.size, s.logprobs.size);
  }
  for (std::size_t i = 0; i < s.logprobs.size; ++i) {
    if (!std::isfinite(s.logprobs.data[i]) || s.logprobs.data[i] > 1e-4F) {
      return fmt::format("logprob {} of token {}", s.logprobs.data[i], i);
    }
  }
  return {};
}

RequestFeed::RequestFeed(const Sampling& sampling, const Policy::NextRequest& next,
                         SampleReceiver& receiver)
    : sampling_(sampling),
      next_(next),
      receiver_(receiver),
      source_{sizeof(krl_request_source), 0, this, give_next} {}

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
  Taken& taken = taken_.emplace_back(Taken{messages_of((*next)->prompt), {}});
  taken.request = {sizeof(krl_request),   1,
                   taken.messages.data(), taken.messages.size(),
                   sampling_.c(),         (*next)->seed};
  receiver_.expect_another();
  *out = &taken.request;
  return KRL_OK;
}

}  // namespace krl
