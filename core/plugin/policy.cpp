#include "core/plugin/policy.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <kernelrl/growth.hpp>
#include <optional>
#include <type_traits>

#include <kernelrl/config_json.hpp>
#include "core/plugin/policy_calls.hpp"
#include "core/plugin/views.hpp"

namespace krl::core {
namespace {

constexpr std::string_view kGivesNoLogprobs = "cannot compute log-probabilities of given tokens";

// The function at `member` of the plugin's table, which may be older than ours; null if it has
// none.
template <class Function>
Function function_of(const krl_component& policy, Function krl_policy_v::*member) {
  const auto& table = *static_cast<const krl_policy_v*>(policy.table);
  return has(table, table.*member) ? table.*member : nullptr;
}

template <class Function>
Function function_of(const Component& policy, Function krl_policy_v::*member) {
  return function_of(*policy.raw, member);
}

Status lacks(const Component& policy, std::string_view what) {
  return failure(Code::kUnimplemented, fmt::format("the policy '{}' {}", policy.id, what));
}

// Returns a function that a policy with these flags must have, and lacks; empty if there is none.
std::string_view missing_function(const Component& policy, std::uint32_t flags) {
  const auto is_missing = [&](auto member) {
    return function_of(*policy.offered, member) == nullptr;
  };
  if ((flags & KRL_POLICY_NEEDS_CORPUS) != 0 && is_missing(&krl_policy_v::fit)) return "fit";
  if ((flags & KRL_POLICY_TRAINABLE) == 0) return {};
  if (is_missing(&krl_policy_v::forward_backward)) return "forward_backward";
  if (is_missing(&krl_policy_v::optimizer_step)) return "optimizer_step";
  if (is_missing(&krl_policy_v::save)) return "save";
  return is_missing(&krl_policy_v::load) ? "load" : "";
}

bool is_unimplemented(const Status& status) {
  return !status && status.error().code == Code::kUnimplemented;
}

using PolicyDescription = SelfDescription<krl_policy_info_sink, krl_policy_info, PolicyInfo>;

// Determines the result of a call whose results went through `receiver`.
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

// Calls a function that gives no results but figures, which are added to `metrics`, if there are
// any to be kept.
template <class... Args>
Status call_once(const Instance& instance, std::string_view name, Metrics* metrics,
                 krl_status (*function)(void*, const krl_call*, Args...),
                 std::type_identity_t<Args>... args) {
  Call call(instance.component(), instance.scope());
  KRL_TRY(instance.run(
      call, name, [&](void* self, auto* context) { return function(self, context, args...); }));
  if (metrics != nullptr) merge(*metrics, call.metrics());
  return {};
}

// Calls a function that gives a number for every token of the examples.
template <class Sink, class Function>
Result<std::vector<std::vector<float>>> numbers_of(const Instance& instance, std::string_view name,
                                                   const char* what,
                                                   const std::vector<Example>& examples,
                                                   const Function& function) {
  const CViews<Example> c_examples(examples);
  return instance.patiently([&]() -> Result<std::vector<std::vector<float>>> {
    NumberReceiver<Sink> receiver(examples, what);
    Call call(instance.component(), instance.scope());
    const Status status = instance.run(call, name, [&](void* self, auto* context) {
      return function(self, context, c_examples, receiver.c());
    });
    KRL_TRY(checked(call, name, status, receiver));
    return std::move(receiver).take();
  });
}

}  // namespace

Result<PolicyInfo> Policy::describe() const {
  return instance_.patiently([&]() -> Result<PolicyInfo> {
    PolicyDescription description(value_of<PolicyInfo>);
    Call call(component(), instance_.scope());
    KRL_TRY(instance_.run(call, "describe", [&](void* self, auto* context) {
      return table().describe(self, context, description.sink());
    }));
    const krl_policy_info& info = description.info();
    std::string why = description.complaint();
    if (why.empty()) why = complaint_about(info);
    if (!why.empty()) return failure(call.broken("describe", why));
    bounds_->vocabulary = info.vocabulary;
    bounds_->described = info.version;
    bounds_->gives_tokens = (~info.flags & (KRL_POLICY_TRAINABLE | KRL_POLICY_HAS_TOKENS)) == 0;
    overlaps_->samples_while_training = (info.flags & KRL_POLICY_SAMPLES_WHILE_TRAINING) != 0;
    return description.take();
  });
}

std::string Policy::complaint_about(const krl_policy_info& info) const {
  if (const auto missing = missing_function(component(), info.flags); !missing.empty())
    return fmt::format("its flags need {}(), which is NULL", missing);
  if (info.context_tokens < 0 || info.vocabulary < 0) {
    return fmt::format("it has {} tokens of context and a vocabulary of {}; 0 is unknown",
                       info.context_tokens, info.vocabulary);
  }
  if (info.logprobs > KRL_LOGPROBS_PROCESSED)
    return fmt::format("its logprobs are of the unknown kind {}", info.logprobs);
  if (info.version < bounds_->described) {
    return fmt::format("it reports version {} after version {}", info.version,
                       bounds_->described.load());
  }
  return {};
}

Result<std::optional<PolicyInfo>> Policy::preview(const Component& policy,
                                                  const nlohmann::json& options,
                                                  const CallScope& scope) {
  const auto preview = function_of(policy, &krl_policy_v::preview);
  if (preview == nullptr) return std::nullopt;
  const JsonConfig config(options);
  Call call(policy, scope);
  PolicyDescription description(value_of<PolicyInfo>);
  const Status status =
      call.run("preview", [&] { return preview(config.c(), call.c(), description.sink()); });
  if (is_unimplemented(status)) return std::nullopt;
  if (!status) return failure(status.error());
  const std::string why = description.complaint();
  if (!why.empty()) return failure(call.broken("preview", why));
  return description.take();
}

Status Policy::check_loss(const Component& policy, const nlohmann::json& options, const Loss& loss,
                          const CallScope& scope) {
  const auto check = function_of(policy, &krl_policy_v::check_loss);
  if (check == nullptr) return {};
  const JsonConfig config(options);
  const CView c_loss(loss);
  Call call(policy, scope);
  Status status = call.run("check_loss", [&] { return check(config.c(), call.c(), c_loss.c()); });
  if (is_unimplemented(status)) return {};
  return status;
}

template <class Function>
Status Policy::run_sampling(Call& call, std::string_view name, const Function& function) const {
  if (!overlaps_->samples_while_training) return instance_.run(call, name, function);
  const std::lock_guard lock(overlaps_->sampling);
  return instance_.run_beside(call, name, function);
}

// If a call fails, its results are kept, and the next try covers only the rest.
template <class Attempt>
Status Policy::sample_patiently(SampleReceiver& receiver, const Attempt& attempt) const {
  for (Tries tries = instance_.tries();;) {
    const Status status =
        attempt(receiver.begin_try({bounds_->vocabulary, bounds_->sampled, bounds_->gives_tokens}));
    bounds_->sampled = receiver.newest_version();
    if (status || receiver.progressed()) tries.succeeded();
    if (status) return {};
    KRL_TRY(tries.after(status.error()));
  }
}

Status Policy::sample(const std::vector<SampleRequest>& requests, const AnswerSink& sink,
                      Metrics& metrics) const {
  SampleReceiver receiver(sink, fmt::format("policy '{}' (sample)", component().id));
  for (const SampleRequest& request : requests) receiver.add(request);
  return sample_patiently(
      receiver, [&](const std::vector<const SampleRequest*>& missing) -> Status {
        const CViews<SampleRequest> c_requests(missing);
        for (const SampleRequest* request : missing) receiver.expect(*request);
        Call call(component(), instance_.scope());
        const Status status = run_sampling(call, "sample", [&](void* self, auto* context) {
          return table().sample(self, context, c_requests.data(), c_requests.size(), receiver.c());
        });
        merge(metrics, call.metrics());
        return checked(call, "sample", status, receiver);
      });
}

bool Policy::can_stream(const Component& policy) {
  return function_of(*policy.offered, &krl_policy_v::sample_stream) != nullptr;
}

Result<bool> Policy::follows(const Component& policy) {
  const auto follows = function_of(policy, &krl_policy_v::follows);
  if (follows == nullptr) return false;
  const CallScope scope;
  const Call call(policy, scope);
  std::int32_t answer = 0;
  KRL_TRY(call.run("follows", [&] { return follows(call.c(), &answer); }));
  return answer != 0;
}

Status Policy::follow() const {
  Call call(component(), instance_.scope().without_limit());
  return instance_.run(call, "follow",
                       [&](void* self, auto* context) { return table().follow(self, context); });
}

Status Policy::sample_stream(const NextRequest& next, const AnswerSink& sink,
                             Metrics& metrics) const {
  SampleReceiver receiver(sink, fmt::format("policy '{}' (sample_stream)", component().id));
  return sample_patiently(
      receiver, [&](const std::vector<const SampleRequest*>& missing) -> Status {
        const NextRequest next_of_try =
            [&, i = std::size_t{0}](bool wait) mutable -> Result<const SampleRequest*> {
          if (i < missing.size()) return missing[i++];
          return next(wait);
        };
        RequestFeed feed(next_of_try, receiver);
        Call call(component(), instance_.scope().without_limit());
        const Status status = run_sampling(call, "sample_stream", [&](void* self, auto* context) {
          return table().sample_stream(self, context, feed.c(), receiver.c());
        });
        merge(metrics, call.metrics());
        KRL_TRY(checked(call, "sample_stream", status, receiver));
        if (feed.ended()) return {};
        return failure(call.broken("sample_stream", "it returned while requests could still come"));
      });
}

Result<Example> Policy::tokenize(const Prompt& prompt, const std::string& answer) const {
  return instance_.patiently([&] { return tokenize_once(prompt, answer); });
}

Result<Example> Policy::tokenize_once(const Prompt& prompt, const std::string& answer) const {
  std::optional<Example> tokens;
  const auto put = [](const krl_sample_sink* sink, const krl_sample* s) -> krl_status {
    if (!fault_in(s).empty()) return KRL_INVALID_ARGUMENT;
    const auto prompt_tokens = span(s->prompt_tokens), tokens = span(s->tokens);
    static_cast<std::optional<Example>*>(sink->ctx)->emplace(
        Example{{prompt_tokens.begin(), prompt_tokens.end()}, {tokens.begin(), tokens.end()}});
    return KRL_OK;
  };
  const auto fail = [](const krl_sample_sink*, std::uint32_t, krl_status, krl_str) -> krl_status {
    return KRL_FAILED_PRECONDITION;  // tokenize() itself fails
  };
  const krl_sample_sink sink{sizeof(krl_sample_sink), 0, &tokens, put, fail};
  const CViews<Message> messages(prompt);
  Call call(component(), instance_.scope());
  const auto tokenize = [&](void* self, auto* context) {
    return table().tokenize(self, context, messages.data(), messages.size(), to_c(answer), &sink);
  };
  if (can_stream(component())) {  // sample_stream() may be in progress, and wait for this episode
    const std::lock_guard lock(overlaps_->tokenizing);
    KRL_TRY(instance_.run_beside(call, "tokenize", tokenize));
  } else {
    KRL_TRY(instance_.run(call, "tokenize", tokenize));
  }
  if (!tokens) return failure(call.broken("tokenize", "it gave no tokens"));
  return *std::move(tokens);
}

Status Policy::fit(const std::vector<std::string>& texts, std::uint64_t seed) const {
  std::vector<krl_str> c_texts;
  for (const std::string& text : texts) c_texts.push_back(to_c(text));
  return call_once(instance_, "fit", nullptr, table().fit, c_texts.data(), c_texts.size(), seed);
}

Status Policy::forward_backward(const Loss& loss, const Batch& batch, Metrics& metrics) const {
  const CView c_loss(loss);
  const CViews<Example> c_examples(batch);
  return call_once(instance_, "forward_backward", &metrics, table().forward_backward, c_loss.c(),
                   c_examples.data(), c_examples.size());
}

Status Policy::optimizer_step(const Optimizer& optimizer, Metrics& metrics) const {
  const CView c_optimizer(optimizer);
  return call_once(instance_, "optimizer_step", &metrics, table().optimizer_step, c_optimizer.c());
}

Result<std::vector<std::vector<float>>> Policy::logprobs(
    double temperature, const std::vector<Example>& examples) const {
  const auto logprobs = function_of(component(), &krl_policy_v::logprobs);
  if (logprobs == nullptr) return failure(lacks(component(), kGivesNoLogprobs).error());
  return numbers_of<krl_logprob_sink>(
      instance_, "logprobs", "logprob", examples,
      [&](void* self, auto* context, const CViews<Example>& c_examples, auto* sink) {
        return logprobs(self, context, temperature, c_examples.data(), c_examples.size(), sink);
      });
}

Result<std::vector<std::vector<float>>> Policy::values(const std::vector<Example>& examples) const {
  const auto values = function_of(component(), &krl_policy_v::values);
  if (values == nullptr)
    return failure(Call(component(), instance_.scope())
                       .broken("describe", "it reports a critic, but has no values()"));
  return numbers_of<krl_critic_sink>(
      instance_, "values", "value", examples,
      [&](void* self, auto* context, const CViews<Example>& c_examples, auto* sink) {
        return values(self, context, c_examples.data(), c_examples.size(), sink);
      });
}

Result<std::uint64_t> Policy::publish() const {
  if (const auto publish = function_of(component(), &krl_policy_v::publish)) {
    std::uint64_t version = 0;
    const Status status = instance_.patiently(
        [&] { return call_once(instance_, "publish", nullptr, publish, &version); });
    if (status) return version;
    if (!is_unimplemented(status)) return failure(status.error());
  }
  KRL_ASSIGN(const PolicyInfo info, describe());  // it samples with its newest weights
  return info.version;
}

Status Policy::adopt_weights(const Weights& weights) const {
  const auto adopt = function_of(component(), &krl_policy_v::adopt_weights);
  if (adopt == nullptr) return lacks(component(), "cannot adopt weights from another policy");
  const krl_weights c_weights{sizeof(krl_weights), weights.kind, to_c(weights.directory),
                              weights.version};
  return instance_.patiently(
      [&] { return call_once(instance_, "adopt_weights", nullptr, adopt, &c_weights); });
}

Status Policy::forget(const std::string& directory) const {
  const auto forget = function_of(component(), &krl_policy_v::forget);
  if (forget == nullptr) return {};
  Status status = call_once(instance_, "forget", nullptr, forget, to_c(directory));
  if (is_unimplemented(status)) return {};
  return status;
}

Status Policy::save(const std::string& directory) const {
  KRL_TRY(call_once(instance_, "save", nullptr, table().save, to_c(directory)));
  std::error_code error;
  if (!std::filesystem::is_empty(directory, error) || error) return {};
  const std::string why =
      fmt::format("it wrote nothing to '{}', so a run could not be resumed from it", directory);
  return failure(Call(component(), instance_.scope()).broken("save", why));
}

Status Policy::load(const std::string& directory) const {
  if (table().load == nullptr) return lacks(component(), "cannot load a checkpoint");
  bounds_->described = bounds_->sampled = 0;  // it may go back to earlier weights
  return instance_.patiently(
      [&] { return call_once(instance_, "load", nullptr, table().load, to_c(directory)); });
}

Status Policy::export_weights(const std::string& directory, const std::string& format) const {
  if (table().export_weights == nullptr) return lacks(component(), "has no weights to export");
  return call_once(instance_, "export_weights", nullptr, table().export_weights, to_c(directory),
                   to_c(format));
}

}  // namespace krl::core
