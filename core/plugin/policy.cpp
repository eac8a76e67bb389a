#include "core/plugin/policy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/plugin/rows.hpp"
#include "core/plugin/sampling_call.hpp"
#include "core/plugin/text.hpp"

namespace krl {
namespace {

// The C form of an example; it borrows its arrays.
krl_example view_of(const Example& e) {
  return {sizeof(krl_example),
          0,
          {e.prompt_tokens.data(), e.prompt_tokens.size()},
          {e.tokens.data(), e.tokens.size()},
          {e.logprobs.data(), e.logprobs.size()},
          {e.advantages.data(), e.advantages.size()},
          {e.weights.data(), e.weights.size()},
          {e.values.data(), e.values.size()},
          {e.returns.data(), e.returns.size()}};
}

// Receives the critic's values of `examples`, and checks them.
class ValueReceiver {
 public:
  explicit ValueReceiver(const std::vector<Example>& examples)
      : examples_(examples),
        values_(examples.size()),
        sink_{sizeof(krl_critic_sink), 0, this, put} {}

  const krl_critic_sink* c() const { return &sink_; }

  // What was wrong with what was put; empty if nothing was.
  const std::string& complaint() const { return complaint_; }
  // What is still missing; empty if nothing is.
  std::string missing() const {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (values_[i].size() != examples_[i].tokens.size())
        return fmt::format("it gave no values for example {} of {}", i, values_.size());
    }
    return {};
  }

  std::vector<std::vector<float>> take() && { return std::move(values_); }

 private:
  static krl_status put(const krl_critic_sink* sink, std::size_t example, krl_f32s values) {
    return static_cast<ValueReceiver*>(sink->ctx)->receive(example, values);
  }

  krl_status receive(std::size_t example, krl_f32s values) {
    if (example >= examples_.size()) {
      complaint_ = fmt::format("values of example {}, of {}", example, examples_.size());
    } else if (values.size != examples_[example].tokens.size()) {
      complaint_ = fmt::format("{} values for the {} tokens of example {}", values.size,
                               examples_[example].tokens.size(), example);
    } else if (!std::all_of(values.data, values.data + values.size,
                            [](float v) { return std::isfinite(v); })) {
      complaint_ = fmt::format("a value of example {} is no finite number", example);
    }
    if (!complaint_.empty()) return KRL_INVALID_ARGUMENT;
    values_[example].assign(values.data, values.data + values.size);
    return KRL_OK;
  }

  const std::vector<Example>& examples_;
  std::vector<std::vector<float>> values_;
  std::string complaint_;
  krl_critic_sink sink_;
};

// Whether the plugin's table, which may be older than ours, has the function at `offset`.
bool reaches(const krl_policy_v& table, std::size_t offset) {
  return table.struct_size >= offset + sizeof(void (*)());
}

// What a call comes to whose results went through `receiver`.
template <class Receiver>
Status checked(const Call& call, std::string_view function, const Status& status,
               const Receiver& receiver) {
  std::string why = receiver.complaint();
  if (why.empty() && !status) return status;
  if (why.empty()) why = receiver.missing();
  if (why.empty()) return {};
  return failure(call.broken(function, why));
}

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
                    (info.flags & KRL_POLICY_HAS_CRITIC) != 0, info.context_tokens};
}

Status Policy::sample(const std::vector<SampleRequest>& requests, const Sampling& sampling,
                      const OnAnswer& on_answer) const {
  const SamplingView c_sampling(sampling);
  std::vector<Rows<krl_message>> messages;
  const Rows<krl_request> c_requests(requests, [&](const SampleRequest& request) {
    const Rows<krl_message>& m = messages.emplace_back(messages_of(request.prompt));
    return krl_request{sizeof(krl_request), 1, m.data(), m.size(), c_sampling.c(), request.seed};
  });
  SampleReceiver receiver(requests.size(), on_answer);
  Call call(component(), instance_.scope());
  const Status status = instance_.run(call, "sample", [&](void* self, auto* context) {
    return table().sample(self, context, c_requests.data(), c_requests.size(), receiver.c());
  });
  return checked(call, "sample", status, receiver);
}

bool Policy::can_stream(const Component& policy) {
  const auto* table = static_cast<const krl_policy_v*>(policy.raw->table);
  return reaches(*table, offsetof(krl_policy_v, sample_stream)) && table->sample_stream != nullptr;
}

Result<bool> Policy::follows(const Component& policy) {
  const auto* table = static_cast<const krl_policy_v*>(policy.raw->table);
  if (!reaches(*table, offsetof(krl_policy_v, follow)) || table->follows == nullptr) return false;
  const CallScope scope;
  const Call call(policy, scope);
  std::int32_t answer = 0;
  KRL_TRY(call.finish(table->follows(call.c(), &answer), "follows"));
  return answer != 0;
}

Status Policy::follow() const {
  Call call(component(), instance_.scope());
  return instance_.run(call, "follow",
                       [&](void* self, auto* context) { return table().follow(self, context); });
}

Status Policy::sample_stream(const Sampling& sampling, const NextRequest& next,
                             const OnAnswer& on_answer) const {
  SampleReceiver receiver(0, on_answer);
  RequestFeed feed(sampling, next, receiver);
  Call call(component(), instance_.scope());
  const Status status = instance_.run(call, "sample_stream", [&](void* self, auto* context) {
    return table().sample_stream(self, context, feed.c(), receiver.c());
  });
  KRL_TRY(checked(call, "sample_stream", status, receiver));
  if (feed.ended()) return {};
  return failure(call.broken("sample_stream", "it returned while requests could still come"));
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
  const Rows<krl_message> messages = messages_of(prompt);
  Call call(component(), instance_.scope());
  const auto tokenize = [&](void* self, auto* context) {
    return table().tokenize(self, context, messages.data(), messages.size(), borrow(answer), &sink);
  };
  if (can_stream(component())) {  // sample_stream() may be under way, and wait for this episode
    const std::lock_guard lock(*tokenizing_);
    KRL_TRY(instance_.run_beside(call, "tokenize", tokenize));
  } else {
    KRL_TRY(instance_.run(call, "tokenize", tokenize));
  }
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

Result<std::vector<std::vector<float>>> Policy::values(const std::vector<Example>& examples) const {
  const Rows<krl_example> c_examples(examples, [](const Example& e) { return view_of(e); });
  ValueReceiver receiver(examples);
  Call call(component(), instance_.scope());
  if (!reaches(table(), offsetof(krl_policy_v, values)) || table().values == nullptr)
    return failure(call.broken("describe", "it says it has a critic, and has no values()"));
  const Status status = instance_.run(call, "values", [&](void* self, auto* context) {
    return table().values(self, context, c_examples.data(), c_examples.size(), receiver.c());
  });
  KRL_TRY(checked(call, "values", status, receiver));
  return std::move(receiver).take();
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

Status Policy::export_weights(const std::string& directory, const std::string& format) const {
  Call call(component(), instance_.scope());
  if (table().export_weights == nullptr)
    return failure(Code::kUnimplemented,
                   "the policy '" + component().id + "' has no weights to export");
  return instance_.run(call, "export_weights", [&](void* self, auto* context) {
    return table().export_weights(self, context, borrow(directory), borrow(format));
  });
}

}  // namespace krl
