#include "core/plugin/policy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/plugin/text.hpp"

namespace krl {
namespace {

// The C form of a prompt; borrows its texts.
class MessagesView {
 public:
  explicit MessagesView(const Prompt& prompt) {
    messages_.reserve(prompt.size());
    for (const Message& m : prompt)
      messages_.push_back({sizeof(krl_message), m.role, borrow(m.text)});
    for (const krl_message& m : messages_) pointers_.push_back(&m);
  }
  const krl_message* const* data() const { return pointers_.data(); }
  std::size_t size() const { return pointers_.size(); }

 private:
  std::vector<krl_message> messages_;
  std::vector<const krl_message*> pointers_;
};

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
                           static_cast<StopReason>(s.stop_reason),
                           s.policy_version});
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

// The C form of training examples; borrows their arrays.
class ExamplesView {
 public:
  explicit ExamplesView(const std::vector<Example>& examples) {
    examples_.reserve(examples.size());
    for (const Example& e : examples) {
      examples_.push_back({sizeof(krl_example),
                           0,
                           {e.prompt_tokens.data(), e.prompt_tokens.size()},
                           {e.tokens.data(), e.tokens.size()},
                           {e.logprobs.data(), e.logprobs.size()},
                           {e.advantages.data(), e.advantages.size()},
                           {e.weights.data(), e.weights.size()}});
    }
    for (const krl_example& e : examples_) pointers_.push_back(&e);
  }
  const krl_example* const* data() const { return pointers_.data(); }
  std::size_t size() const { return pointers_.size(); }

 private:
  std::vector<krl_example> examples_;
  std::vector<const krl_example*> pointers_;
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
                    (info.flags & KRL_POLICY_NEEDS_CORPUS) != 0,
                    info.context_tokens,
                    info.vocabulary,
                    info.parameters,
                    info.version,
                    copy(info.description)};
}

Status Policy::sample(const std::vector<SampleRequest>& requests, const Sampling& sampling,
                      const OnAnswer& on_answer) const {
  std::vector<krl_str> stop;
  for (const std::string& text : sampling.stop) stop.push_back(borrow(text));
  const krl_sampling c_sampling{sizeof(krl_sampling), sampling.max_tokens,
                                sampling.temperature, sampling.top_p,
                                sampling.top_k,       static_cast<std::uint32_t>(stop.size()),
                                stop.data()};
  std::vector<MessagesView> messages;
  messages.reserve(requests.size());
  std::vector<krl_request> c_requests;
  c_requests.reserve(requests.size());
  std::vector<const krl_request*> pointers;
  for (const SampleRequest& request : requests) {
    const MessagesView& m = messages.emplace_back(request.prompt);
    c_requests.push_back({sizeof(krl_request), 1, m.data(), m.size(), &c_sampling, request.seed});
    pointers.push_back(&c_requests.back());
  }
  SampleReceiver receiver(requests.size(), on_answer);
  Call call(component(), instance_.scope());
  const Status status = instance_.run(call, "sample", [&](void* self, auto* context) {
    return table().sample(self, context, pointers.data(), pointers.size(), receiver.c());
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
  const MessagesView messages(prompt);
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
  std::vector<krl_parameter> parameters;
  parameters.reserve(loss.parameters.size());
  std::vector<const krl_parameter*> pointers;
  for (const auto& [name, value] : loss.parameters) {
    parameters.push_back({sizeof(krl_parameter), 0, borrow(name), value});
    pointers.push_back(&parameters.back());
  }
  const krl_loss c_loss{sizeof(krl_loss), loss.aggregation, borrow(loss.name), loss.normaliser,
                        loss.temperature, pointers.data(),  pointers.size()};
  const ExamplesView view(examples);
  Call call(component(), instance_.scope());
  KRL_TRY(instance_.run(call, "forward_backward", [&](void* self, auto* context) {
    return table().forward_backward(self, context, &c_loss, view.data(), view.size());
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
