#include "core/plugin/policy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/plugin/rows.hpp"
#include "core/plugin/text.hpp"

namespace krl {
namespace {

// The C forms of a prompt and of an example; they borrow its texts and arrays.
Rows<krl_message> view_of(const Prompt& prompt) {
  return {prompt, [](const Message& m) {
            return krl_message{sizeof(krl_message), m.role, borrow(m.text)};
          }};
}

krl_example view_of(const Example& e) {
  return {sizeof(krl_example),
          0,
          {e.prompt_tokens.data(), e.prompt_tokens.size()},
          {e.tokens.data(), e.tokens.size()},
          {e.logprobs.data(), e.logprobs.size()},
          {e.advantages.data(), e.advantages.size()},
          {e.weights.data(), e.weights.size()}};
}

// Receives samples, checks each and hands it on.
class SampleReceiver {
 public:
  SampleReceiver(std::size_t n_requests, const Policy::OnAnswer& on_answer)
      : answered_(n_requests, false),
        on_answer_(on_answer),
        sink_{sizeof(krl_sample_sink), 0, this, put} {}

  const krl_sample_sink* c() const { return &sink_; }
  // What was wrong with what was put; empty if nothing was.
  const std::string& complaint() const { return complaint_; }
  // The first request that got no sample.
  std::optional<std::size_t> unanswered() const {
    const auto at = std::find(answered_.begin(), answered_.end(), false);
    if (at == answered_.end()) return std::nullopt;
    return static_cast<std::size_t>(at - answered_.begin());
  }

 private:
  static krl_status put(const krl_sample_sink* sink, const krl_sample* sample) {
    return static_cast<SampleReceiver*>(sink->ctx)->receive(*sample);
  }

  krl_status receive(const krl_sample& s) {
    if (const std::string why = check(s); !why.empty()) {
      complaint_ = why;
      return KRL_INVALID_ARGUMENT;
    }
    answered_[s.request] = true;
    on_answer_(s.request, {copy(s.text),
                           {s.prompt_tokens.data, s.prompt_tokens.data + s.prompt_tokens.size},
                           {s.tokens.data, s.tokens.data + s.tokens.size},
                           {s.logprobs.data, s.logprobs.data + s.logprobs.size},
                           static_cast<StopReason>(s.stop_reason)});
    return KRL_OK;
  }

  std::string check(const krl_sample& s) const {
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

  std::vector<bool> answered_;
  const Policy::OnAnswer& on_answer_;
  std::string complaint_;
  krl_sample_sink sink_;
};

void merge(Metrics& into, const Metrics& from) {
  for (const auto& [name, value] : from) merge_metric(into, name, value);
}

}  // namespace

Result<PolicyInfo> Policy::describe() const {
  krl_policy_info info{};
  info.struct_size = sizeof info;
  Call call(component(), instance_.scope());
  KRL_TRY(instance_.run(call, "describe", [&](void* self, auto* context) {
    return table().describe(self, context, &info);
  }));
  return PolicyInfo{(info.flags & KRL_POLICY_TRAINABLE) != 0,
                    (info.flags & KRL_POLICY_HAS_TOKENS) != 0,
                    (info.flags & KRL_POLICY_NEEDS_CORPUS) != 0, info.context_tokens};
}

Status Policy::sample(const std::vector<SampleRequest>& requests, const Sampling& sampling,
                      const OnAnswer& on_answer) const {
  std::vector<krl_str> stop;
  for (const std::string& text : sampling.stop) stop.push_back(borrow(text));
  const krl_sampling c_sampling{sizeof(krl_sampling), sampling.max_tokens,
                                sampling.temperature, sampling.top_p,
                                sampling.top_k,       static_cast<std::uint32_t>(stop.size()),
                                stop.data()};
  std::vector<Rows<krl_message>> messages;
  const Rows<krl_request> c_requests(requests, [&](const SampleRequest& request) {
    const Rows<krl_message>& m = messages.emplace_back(view_of(request.prompt));
    return krl_request{sizeof(krl_request), 1, m.data(), m.size(), &c_sampling, request.seed};
  });
  SampleReceiver receiver(requests.size(), on_answer);
  Call call(component(), instance_.scope());
  const Status status = instance_.run(call, "sample", [&](void* self, auto* context) {
    return table().sample(self, context, c_requests.data(), c_requests.size(), receiver.c());
  });
  if (!receiver.complaint().empty()) return failure(call.broken("sample", receiver.complaint()));
  KRL_TRY(status);
  if (const auto request = receiver.unanswered()) {
    return failure(call.broken("sample", fmt::format("it gave no sample for request {} of {}",
                                                     *request, requests.size())));
  }
  return {};
}

Result<Example> Policy::tokenize(const Prompt& prompt, const std::string& answer) const {
  std::optional<Example> tokens;
  const auto put = [](const krl_sample_sink* sink, const krl_sample* s) -> krl_status {
    static_cast<std::optional<Example>*>(sink->ctx)->emplace(
        Example{{s->prompt_tokens.data, s->prompt_tokens.data + s->prompt_tokens.size},
                {s->tokens.data, s->tokens.data + s->tokens.size},
                {},
                {},
                {}});
    return KRL_OK;
  };
  const krl_sample_sink sink{sizeof(krl_sample_sink), 0, &tokens, put};
  const Rows<krl_message> messages = view_of(prompt);
  Call call(component(), instance_.scope());
  KRL_TRY(instance_.run(call, "tokenize", [&](void* self, auto* context) {
    return table().tokenize(self, context, messages.data(), messages.size(), borrow(answer), &sink);
  }));
  if (!tokens) return failure(call.broken("tokenize", "it gave no tokens"));
  return *std::move(tokens);
}

Status Policy::fit(const std::vector<std::string>& texts, std::uint64_t seed) const {
  std::vector<krl_str> c_texts;
  for (const std::string& text : texts) c_texts.push_back(borrow(text));
  Call call(component(), instance_.scope());
  return instance_.run(call, "fit", [&](void* self, auto* context) {
    return table().fit(self, context, c_texts.data(), c_texts.size(), seed);
  });
}

Status Policy::forward_backward(const Loss& loss, const std::vector<Example>& examples,
                                Metrics& metrics) const {
  const Rows<krl_parameter> parameters(loss.parameters, [](const auto& parameter) {
    return krl_parameter{sizeof(krl_parameter), 0, borrow(parameter.first), parameter.second};
  });
  const krl_loss c_loss{sizeof(krl_loss), loss.aggregation,  borrow(loss.name), loss.normaliser,
                        loss.temperature, parameters.data(), parameters.size()};
  const Rows<krl_example> c_examples(examples, [](const Example& e) { return view_of(e); });
  Call call(component(), instance_.scope());
  KRL_TRY(instance_.run(call, "forward_backward", [&](void* self, auto* context) {
    return table().forward_backward(self, context, &c_loss, c_examples.data(), c_examples.size());
  }));
  merge(metrics, call.metrics());
  return {};
}

Status Policy::optimizer_step(const Optimizer& o, Metrics& metrics) const {
  const krl_optimizer c_optimizer{
      sizeof(krl_optimizer), 0, o.lr, o.beta1, o.beta2, o.epsilon, o.weight_decay, o.grad_clip};
  Call call(component(), instance_.scope());
  KRL_TRY(instance_.run(call, "optimizer_step", [&](void* self, auto* context) {
    return table().optimizer_step(self, context, &c_optimizer);
  }));
  merge(metrics, call.metrics());
  return {};
}

Status Policy::save(const std::string& directory) const {
  Call call(component(), instance_.scope());
  return instance_.run(call, "save", [&](void* self, auto* context) {
    return table().save(self, context, borrow(directory));
  });
}

Status Policy::load(const std::string& directory) const {
  Call call(component(), instance_.scope());
  return instance_.run(call, "load", [&](void* self, auto* context) {
    return table().load(self, context, borrow(directory));
  });
}

}  // namespace krl
