// A policy: samples answers and, if trainable, learns from them.
#pragma once

#include <kernelrl/component.hpp>
#include <kernelrl/policy_values.hpp>
#include <kernelrl/seeds.hpp>
#include <kernelrl/values.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace krl {

class Message {
 public:
  explicit Message(const krl_message* c) : c_(c) {}
  unsigned role() const { return c_->role; }  // KRL_ROLE_*
  std::string_view text() const { return view(c_->text); }

 private:
  const krl_message* c_;
};
using Messages = Views<Message, krl_message>;

class Request {
 public:
  explicit Request(const krl_request* c) : c_(c) {}
  Messages messages() const { return {c_->messages, c_->n_messages}; }
  unsigned n_samples() const { return c_->n_samples; }
  std::uint64_t seed() const { return c_->seed; }
  // The stream (seed, k) as one number, for servers that take a single seed.
  std::uint32_t seed_of_sample(std::uint32_t k) const { return server_seed(c_->seed, k); }
  unsigned max_tokens() const { return c_->sampling->max_tokens; }
  double temperature() const { return c_->sampling->temperature; }
  double top_p() const { return c_->sampling->top_p; }
  int top_k() const { return c_->sampling->top_k; }
  std::vector<std::string_view> stop() const {
    std::vector<std::string_view> texts;
    for (unsigned i = 0; i < c_->sampling->n_stop; ++i)
      texts.push_back(view(c_->sampling->stop[i]));
    return texts;
  }
  std::string_view session() const { return view(c_->session); }
  // The prompt as tokens, and the answer so far; usually both are empty.
  Span<std::int32_t> prompt_tokens() const { return span(c_->prompt_tokens); }
  Span<std::int32_t> answer_prefix() const { return span(c_->answer_prefix); }
  // CLOCK_MONOTONIC nanoseconds; 0 = none.
  std::int64_t deadline_ns() const { return c_->deadline_ns; }
  const krl_request* c() const { return c_; }

 private:
  const krl_request* c_;
};
using Requests = Views<Request, krl_request>;

class SampleSink {
 public:
  explicit SampleSink(const krl_sample_sink* c) : c_(c) {}
  void put(krl_sample sample) const {
    sample.struct_size = sizeof sample;
    check(c_->put(c_, &sample));
  }
  // Passes a sample of a policy without tokens.
  void put(std::uint32_t request, std::uint32_t index, std::uint32_t stop_reason,
           std::string_view text) const {
    krl_sample sample{};
    sample.request = request;
    sample.index = index;
    sample.stop_reason = stop_reason;
    sample.text = to_c(text);
    put(sample);
  }
  // Gives up the samples of `request` that were not put.
  void fail(std::uint32_t request, krl_status status, std::string_view why) const {
    check(c_->fail(c_, request, status, to_c(why)));
  }

 private:
  const krl_sample_sink* c_;
};

// Requests that arrive while earlier ones are being answered. They are numbered from 0 in the order
// in which they are taken; samples name them by this number.
class RequestSource {
 public:
  explicit RequestSource(const krl_request_source* c) : c_(c) {}
  // Returns the next request, valid until the call returns. Empty if there is none yet or, with
  // `wait`, if no more will come. Throws when the call is cancelled.
  std::optional<Request> next(bool wait) const {
    const krl_request* request = nullptr;
    check(c_->next(c_, wait ? 1 : 0, &request));
    return request == nullptr ? std::nullopt : std::optional<Request>(request);
  }

 private:
  const krl_request_source* c_;
};

class Example {
 public:
  explicit Example(const krl_example* c) : c_(c) {}
  Span<std::int32_t> prompt_tokens() const { return span(c_->prompt_tokens); }
  Span<std::int32_t> tokens() const { return span(c_->tokens); }
  Span<float> logprobs() const { return span(c_->logprobs); }
  Span<float> advantages() const { return span(c_->advantages); }
  Span<float> weights() const { return span(c_->weights); }
  // Returns the critic's values; empty without a critic.
  Span<float> values() const { return span(c_->values); }
  Span<float> returns() const { return span(c_->returns); }
  // Under the weights at the start of the update, and under the reference; empty where the policy
  // computes them itself.
  Span<float> old_logprobs() const { return span(c_->old_logprobs); }
  Span<float> reference_logprobs() const { return span(c_->reference_logprobs); }
  std::uint64_t version() const { return c_->version; }
  std::string_view state() const { return view(c_->state); }
  const krl_example* c() const { return c_; }

 private:
  const krl_example* c_;
};
using Examples = Views<Example, krl_example>;

class Loss {
 public:
  explicit Loss(const krl_loss* c) : c_(c) {}
  std::string_view name() const { return view(c_->name); }
  unsigned aggregation() const { return c_->aggregation; }  // KRL_TOKEN_MEAN, …
  double normaliser() const { return c_->normaliser; }
  double temperature() const { return c_->temperature; }
  std::size_t size() const { return c_->n_parameters; }
  std::string_view parameter_name(std::size_t i) const { return view(c_->parameters[i]->name); }
  double parameter_value(std::size_t i) const { return c_->parameters[i]->value; }
  std::optional<double> parameter(std::string_view name) const {
    for (std::size_t i = 0; i < size(); ++i) {
      if (parameter_name(i) == name) return parameter_value(i);
    }
    return std::nullopt;
  }
  bool last_of_step() const { return (c_->flags & KRL_LOSS_LAST_OF_STEP) != 0; }
  const krl_loss* c() const { return c_; }

 private:
  const krl_loss* c_;
};

class LogprobSink {
 public:
  explicit LogprobSink(const krl_logprob_sink* c) : c_(c) {}
  void put(std::size_t example, Span<float> logprobs) const {
    check(c_->put(c_, example, f32s(logprobs)));
  }

 private:
  const krl_logprob_sink* c_;
};

class CriticSink {
 public:
  explicit CriticSink(const krl_critic_sink* c) : c_(c) {}
  void put(std::size_t example, Span<float> values) const {
    check(c_->put(c_, example, f32s(values)));
  }

 private:
  const krl_critic_sink* c_;
};

// Weights that another policy has exported.
class Weights {
 public:
  explicit Weights(const krl_weights* c) : c_(c) {}
  std::uint32_t kind() const { return c_->kind; }  // one of KRL_WEIGHTS_*
  std::string_view directory() const { return view(c_->directory); }
  std::uint64_t version() const { return c_->version; }

 private:
  const krl_weights* c_;
};

// Answers requests. abi.h defines at krl_policy_v what each call must do. Calls that are not
// overridden fail with KRL_UNIMPLEMENTED.
//
// A class that also answers requests as they come declares `static constexpr bool streams = true;`
// and overrides sample_stream(). One that several processes share has a function `static bool
// follows();` and overrides follow().
struct Policy : Component {
  virtual PolicyInfo describe() = 0;
  virtual void sample(const Requests&, const SampleSink&, const Context&) = 0;
  // Called only if the policy has tokens.
  virtual void tokenize(const Messages&, std::string_view /*answer*/, const SampleSink&,
                        const Context&) {
    throw Failure(KRL_UNIMPLEMENTED, "this policy gives no tokens");
  }
  virtual void sample_stream(const RequestSource&, const SampleSink&, const Context&) {
    throw Failure(KRL_UNIMPLEMENTED, "this policy takes requests all at once only");
  }
  virtual void follow(const Context&) {
    throw Failure(KRL_UNIMPLEMENTED, "this policy serves no other process");
  }
  // Called on an object whose options are set and which is never started.
  virtual PolicyInfo preview() {
    throw Failure(KRL_UNIMPLEMENTED, "this policy has to be started to be described");
  }
  virtual void logprobs(double /*temperature*/, const Examples&, const LogprobSink&,
                        const Context&) {
    throw Failure(KRL_UNIMPLEMENTED,
                  "this policy cannot compute log-probabilities of given tokens");
  }
  virtual void adopt_weights(const Weights&, const Context&) {
    throw Failure(KRL_UNIMPLEMENTED, "this policy cannot adopt weights from another policy");
  }
};

// A policy that also learns.
struct TrainablePolicy : Policy {
  virtual void fit(Span<krl_str> /*texts*/, std::uint64_t /*seed*/, const Context&) {}
  void logprobs(double temperature, const Examples&, const LogprobSink&,
                const Context&) override = 0;
  // Called only where describe() reports has_critic.
  virtual void values(const Examples&, const CriticSink&, const Context&) {
    throw Failure(KRL_UNIMPLEMENTED, "this policy has no critic");
  }
  virtual void forward_backward(const Loss&, const Examples&, const Context&) = 0;
  virtual void optimizer_step(const krl_optimizer&, const Context&) = 0;
  virtual void save(std::string_view directory, const Context&) = 0;
  virtual void load(std::string_view directory, const Context&) = 0;
  virtual void export_weights(std::string_view /*directory*/, std::string_view format,
                              const Context&) {
    throw Failure(KRL_UNIMPLEMENTED,
                  "this policy cannot export the format '" + std::string(format) + "'");
  }
  // Called like preview(): throws KRL_INVALID_ARGUMENT if the policy cannot learn by this loss.
  virtual void check_loss(const Loss&) {}
  virtual std::uint64_t publish(const Context&) {
    throw Failure(KRL_UNIMPLEMENTED, "this policy samples with its newest weights");
  }
  virtual void forget(std::string_view /*directory*/, const Context&) {}
};

namespace detail {

template <class T, class = void>
struct Streams {
  static constexpr bool value = false;
};
template <class T>
struct Streams<T, std::void_t<decltype(T::streams)>> {
  static constexpr bool value = T::streams;
};

template <class T, class = void>
struct Followers {
  static void add(krl_policy_v&) {}
};
template <class T>
struct Followers<T, std::void_t<decltype(T::follows())>> {
  static krl_status follows(const krl_call* context, std::int32_t* out) noexcept {
    return guard(context, [&] { *out = T::follows() ? 1 : 0; });
  }
  static krl_status follow(void* self, const krl_call* context) noexcept {
    return guard(context, [&] { static_cast<Policy*>(self)->follow(Context(context)); });
  }
  static void add(krl_policy_v& table) {
    table.follows = follows;
    table.follow = follow;
  }
};

inline void push(PolicyInfo info, bool trainable, const krl_policy_info_sink* sink) {
  info.trainable = info.trainable && trainable;
  info.has_logprobs = info.has_logprobs || info.trainable;
  check(sink->info(sink, CView<PolicyInfo>(info).c()));
}

// Calls on a T whose options are set and which is not started.
template <class T>
struct UnstartedPolicy {
  static krl_status preview(const krl_config* c, const krl_call* context,
                            const krl_policy_info_sink* sink) noexcept {
    return guard(context, [&] {
      const auto policy = std::make_unique<T>();
      Options<T>::bind(*policy, c);
      push(policy->preview(), std::is_base_of_v<TrainablePolicy, T>, sink);
    });
  }
  static krl_status check_loss(const krl_config* c, const krl_call* context,
                               const krl_loss* loss) noexcept {
    return guard(context, [&] {
      const auto policy = std::make_unique<T>();
      Options<T>::bind(*policy, c);
      policy->check_loss(Loss(loss));
    });
  }
  static void add(krl_policy_v& table) {
    table.preview = preview;
    if constexpr (std::is_base_of_v<TrainablePolicy, T>) table.check_loss = check_loss;
  }
};

template <bool kTrainable>
struct PolicyCalls {
  using Base = std::conditional_t<kTrainable, TrainablePolicy, Policy>;
  static Base& of(void* self) { return static_cast<Base&>(*static_cast<Policy*>(self)); }

  static krl_status describe(void* self, const krl_call* context,
                             const krl_policy_info_sink* sink) noexcept {
    return guard(context, [&] { push(of(self).describe(), kTrainable, sink); });
  }
  static krl_status sample(void* self, const krl_call* context, const krl_request* const* requests,
                           std::size_t n, const krl_sample_sink* sink) noexcept {
    return guard(context, [&] {
      of(self).sample(Requests(requests, n), SampleSink(sink), Context(context));
    });
  }
  static krl_status tokenize(void* self, const krl_call* context,
                             const krl_message* const* messages, std::size_t n, krl_str answer,
                             const krl_sample_sink* sink) noexcept {
    return guard(context, [&] {
      of(self).tokenize(Messages(messages, n), view(answer), SampleSink(sink), Context(context));
    });
  }
  static krl_status fit(void* self, const krl_call* context, const krl_str* texts, std::size_t n,
                        std::uint64_t seed) noexcept {
    return guard(context, [&] { of(self).fit(Span<krl_str>(texts, n), seed, Context(context)); });
  }
  static krl_status logprobs(void* self, const krl_call* context, double temperature,
                             const krl_example* const* examples, std::size_t n,
                             const krl_logprob_sink* sink) noexcept {
    return guard(context, [&] {
      of(self).logprobs(temperature, Examples(examples, n), LogprobSink(sink), Context(context));
    });
  }
  static krl_status forward_backward(void* self, const krl_call* context, const krl_loss* loss,
                                     const krl_example* const* examples, std::size_t n) noexcept {
    return guard(context, [&] {
      of(self).forward_backward(Loss(loss), Examples(examples, n), Context(context));
    });
  }
  static krl_status optimizer_step(void* self, const krl_call* context,
                                   const krl_optimizer* optimizer) noexcept {
    return guard(context, [&] { of(self).optimizer_step(whole(*optimizer), Context(context)); });
  }
  static krl_status save(void* self, const krl_call* context, krl_str directory) noexcept {
    return guard(context, [&] { of(self).save(view(directory), Context(context)); });
  }
  static krl_status load(void* self, const krl_call* context, krl_str directory) noexcept {
    return guard(context, [&] { of(self).load(view(directory), Context(context)); });
  }
  static krl_status export_weights(void* self, const krl_call* context, krl_str directory,
                                   krl_str format) noexcept {
    return guard(context,
                 [&] { of(self).export_weights(view(directory), view(format), Context(context)); });
  }
  static krl_status sample_stream(void* self, const krl_call* context,
                                  const krl_request_source* source,
                                  const krl_sample_sink* sink) noexcept {
    return guard(context, [&] {
      of(self).sample_stream(RequestSource(source), SampleSink(sink), Context(context));
    });
  }
  static krl_status values(void* self, const krl_call* context, const krl_example* const* examples,
                           std::size_t n, const krl_critic_sink* sink) noexcept {
    return guard(context, [&] {
      of(self).values(Examples(examples, n), CriticSink(sink), Context(context));
    });
  }

  static krl_status publish(void* self, const krl_call* context, std::uint64_t* version) noexcept {
    return guard(context, [&] { *version = of(self).publish(Context(context)); });
  }
  static krl_status adopt_weights(void* self, const krl_call* context,
                                  const krl_weights* weights) noexcept {
    return guard(context, [&] { of(self).adopt_weights(Weights(weights), Context(context)); });
  }
  static krl_status forget(void* self, const krl_call* context, krl_str directory) noexcept {
    return guard(context, [&] { of(self).forget(view(directory), Context(context)); });
  }

  static constexpr krl_policy_v table(bool streams) {
    krl_policy_v table{};
    table.struct_size = sizeof table;
    table.kind = KRL_POLICY;
    table.describe = describe;
    table.sample = sample;
    table.tokenize = tokenize;
    table.logprobs = logprobs;
    table.adopt_weights = adopt_weights;
    if (streams) table.sample_stream = sample_stream;
    if constexpr (kTrainable) {
      table.fit = fit;
      table.forward_backward = forward_backward;
      table.optimizer_step = optimizer_step;
      table.save = save;
      table.load = load;
      table.export_weights = export_weights;
      table.values = values;
      table.publish = publish;
      table.forget = forget;
    }
    return table;
  }
};

}  // namespace detail

template <class T>
const krl_component* policy(const char* id, const char* summary) {
  using Calls = detail::PolicyCalls<std::is_base_of_v<TrainablePolicy, T>>;
  static const krl_policy_v table = [] {
    krl_policy_v calls = Calls::table(detail::Streams<T>::value);
    detail::Followers<T>::add(calls);
    detail::UnstartedPolicy<T>::add(calls);
    return calls;
  }();
  return detail::component<T, Policy>(KRL_POLICY, &table, id, summary);
}

}  // namespace krl
