#include "plugins/python_components/policy.hpp"

#include <kernelrl/policy_values.hpp>
#include <utility>
#include <vector>

#include "plugins/python_components/boundary_json.hpp"

namespace krl::python_components {
namespace {

nlohmann::json json_of(const Examples& examples) {
  nlohmann::json all = nlohmann::json::array();
  for (const Example example : examples) all.push_back(python_components::json_of(example));
  return all;
}

void put(const SampleValue& sample, const SampleSink& sink) {
  sink.put(*CView<SampleValue>(sample).c());
}

void report(const nlohmann::json& metrics, const Context& context) {
  for (const auto& [name, value] : metrics.items()) context.metric(name, number_of(value));
}

}  // namespace

void PythonPolicy::start(const Config& config, const Context& context) {
  worker_.emplace("policy", *this, config, context);
}

nlohmann::json PythonPolicy::ask(nlohmann::json request, const Context& context) {
  const bool learns = worker_->description().value("trainable", false);
  if (learns && worker_->ended()) {
    throw Failure(KRL_FAILED_PRECONDITION, "the Python process of " + file +
                                               " has ended, and what the policy learned with it: "
                                               "resume the run from its last checkpoint");
  }
  return worker_->call(std::move(request), context);
}

PolicyInfo PythonPolicy::describe() {
  const nlohmann::json& said = worker_->description();
  PolicyInfo info;
  said.at("trainable").get_to(info.trainable);
  said.at("has_tokens").get_to(info.has_tokens);
  said.at("has_logprobs").get_to(info.has_logprobs);
  said.at("needs_corpus").get_to(info.needs_corpus);
  said.at("description").get_to(info.description);
  said.at("context_tokens").get_to(info.context_tokens);
  said.at("vocabulary").get_to(info.vocabulary);
  said.at("version").get_to(info.version);
  return info;
}

void PythonPolicy::sample(const Requests& requests, const SampleSink& sink,
                          const Context& context) {
  nlohmann::json all = nlohmann::json::array();
  for (const Request request : requests) all.push_back(python_components::json_of(request));
  for (const auto& sample : ask({{"call", "sample"}, {"requests", all}}, context))
    put(sample_of(sample), sink);
}

void PythonPolicy::tokenize(const Messages& messages, std::string_view answer,
                            const SampleSink& sink, const Context& context) {
  put(sample_of(ask({{"call", "tokenize"},
                     {"messages", python_components::json_of(messages)},
                     {"answer", answer}},
                    context)),
      sink);
}

void PythonPolicy::fit(Span<krl_str> texts, std::uint64_t seed, const Context& context) {
  nlohmann::json all = nlohmann::json::array();
  for (const krl_str text : texts) all.push_back(view(text));
  ask({{"call", "fit"}, {"texts", all}, {"seed", seed}}, context);
}

void PythonPolicy::logprobs(double temperature, const Examples& examples, const LogprobSink& sink,
                            const Context& context) {
  const auto found =
      ask({{"call", "logprobs"}, {"temperature", temperature}, {"examples", json_of(examples)}},
          context);
  for (std::size_t i = 0; i < found.size(); ++i) {
    std::vector<float> values;
    for (const nlohmann::json& value : found[i])
      values.push_back(static_cast<float>(number_of(value)));
    sink.put(i, values);
  }
}

void PythonPolicy::forward_backward(const Loss& loss, const Examples& examples,
                                    const Context& context) {
  report(ask({{"call", "forward_backward"},
              {"loss", python_components::json_of(loss)},
              {"examples", json_of(examples)}},
             context),
         context);
}

void PythonPolicy::optimizer_step(const krl_optimizer& optimizer, const Context& context) {
  report(ask({{"call", "optimizer_step"}, {"optimizer", python_components::json_of(optimizer)}},
             context),
         context);
}

void PythonPolicy::save(std::string_view directory, const Context& context) {
  ask({{"call", "save"}, {"directory", directory}}, context);
}

void PythonPolicy::load(std::string_view directory, const Context& context) {
  ask({{"call", "load"}, {"directory", directory}}, context);
}

void PythonPolicy::export_weights(std::string_view directory, std::string_view format,
                                  const Context& context) {
  ask({{"call", "export_weights"}, {"directory", directory}, {"format", format}}, context);
}

}  // namespace krl::python_components
