#include "plugins/python_components/boundary_json.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <kernelrl/evaluation_json.hpp>
#include <kernelrl/policy_values.hpp>
#include <kernelrl/spelling.hpp>
#include <kernelrl/task_definition.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace krl::python_components {
namespace {

using nlohmann::json;

// The names of small numbers of abi.h, in their order.
constexpr std::array<std::string_view, 4> kFormats = {"exact", "tolerated", "missing", "truncated"};
constexpr std::array<std::string_view, 3> kStops = {"end", "length", "aborted"};
constexpr std::array<std::string_view, 3> kRoles = {"system", "user", "assistant"};
constexpr std::array<std::string_view, 3> kAggregations = {"token_mean", "sequence_mean",
                                                           "token_sum"};
// The names of bits, from the lowest.
constexpr std::array<std::string_view, 6> kStages = {"compile",  "check",   "time",
                                                     "counters", "holdout", "pool"};
constexpr std::array<std::string_view, 8> kSignals = {"compile",      "correctness",   "time",
                                                      "registers",    "shared_memory", "occupancy",
                                                      "instructions", "memory"};

template <class Names>
std::string_view named(const Names& names, std::uint32_t number) {
  return number < names.size() ? names[number] : "unknown";
}

template <class T>
json list(Span<T> values) {
  return std::vector<T>(values.begin(), values.end());
}

krl_task view_of(const TaskDefinition& task, const std::string& definition) {
  krl_task c{};
  c.struct_size = sizeof c;
  c.tier = static_cast<std::uint32_t>(task.tier);
  c.id = to_c(task.id);
  c.title = to_c(task.title);
  c.prompt = to_c(task.prompt);
  c.definition_json = to_c(definition);
  return c;
}

TaskDefinition task_of(const nlohmann::ordered_json& table) {
  auto task = parse_task_definition(table.dump());
  if (!task) invalid_argument("a task of the dataset is wrong:\n" + task.error());
  return std::move(*task);
}

void push_pair(const nlohmann::ordered_json& pair, const DatasetSink& sink) {
  const TaskDefinition task = task_of(pair.at("task"));
  const std::string definition = to_json_text(task);
  sink.pair(view_of(task, definition), pair.at("answer").get<std::string>(),
            pair.at("earlier").get<std::vector<std::string>>(),
            pair.at("shows").get<std::string>());
}

void push_document(const nlohmann::ordered_json& document, const DatasetSink& sink) {
  const auto id = document.at("id").get<std::string>(),
             text = document.at("text").get<std::string>(),
             hint = document.at("task_hint").get<std::string>(), meta = document.at("meta").dump();
  krl_document c{};
  c.id = to_c(id);
  c.text = to_c(text);
  c.task_hint = to_c(hint);
  c.meta_json = to_c(meta);
  sink.document(c);
}

}  // namespace

json json_of(const Task& task) {
  return {{"id", task.id()},
          {"title", task.title()},
          {"tier", task.tier()},
          {"prompt", task.prompt()},
          {"definition_json", task.definition_json()}};
}

json json_of(const Turn& turn) {
  const auto previous = turn.previous();
  return {{"index", turn.index()},
          {"task", json_of(turn.task())},
          {"prompt", turn.prompt()},
          {"answer", turn.answer()},
          {"thinking", turn.thinking()},
          {"source", turn.source()},
          {"format", named(kFormats, turn.format())},
          {"stop", named(kStops, turn.stop_reason())},
          {"tokens", list(turn.tokens())},
          {"logprobs", list(turn.logprobs())},
          {"evaluation", turn.evaluation()},
          {"previous", previous ? json_of(*previous) : json()}};
}

json json_of(const Candidate& candidate, const EvaluateOptions& options) {
  json stages = json::array();
  for (std::size_t bit = 0; bit < kStages.size(); ++bit) {
    if (options.wants(1u << bit)) stages.push_back(kStages[bit]);
  }
  return {{"task", json_of(candidate.task())},
          {"source", candidate.source()},
          {"contract", candidate.host_contract() ? "host" : "device"},
          {"stages", stages},
          {"seed", options.seed}};
}

json json_of(const Messages& messages) {
  json all = json::array();
  for (const Message message : messages)
    all.push_back({{"role", named(kRoles, message.role())}, {"text", message.text()}});
  return all;
}

json json_of(const Request& request) {
  return {{"messages", json_of(request.messages())},
          {"n_samples", request.n_samples()},
          {"seed", request.seed()},
          {"max_tokens", request.max_tokens()},
          {"temperature", request.temperature()},
          {"top_p", request.top_p()},
          {"top_k", request.top_k()},
          {"stop", request.stop()},
          {"session", request.session()}};
}

json json_of(const Example& example) {
  return {{"prompt_tokens", list(example.prompt_tokens())},
          {"tokens", list(example.tokens())},
          {"logprobs", list(example.logprobs())},
          {"advantages", list(example.advantages())},
          {"weights", list(example.weights())},
          {"old_logprobs", list(example.old_logprobs())},
          {"reference_logprobs", list(example.reference_logprobs())},
          {"version", example.version()}};
}

json json_of(const Loss& loss) {
  json parameters = json::object();
  for (std::size_t i = 0; i < loss.size(); ++i)
    parameters[std::string(loss.parameter_name(i))] = loss.parameter_value(i);
  return {{"name", loss.name()},
          {"aggregation", named(kAggregations, loss.aggregation())},
          {"normaliser", loss.normaliser()},
          {"temperature", loss.temperature()},
          {"parameters", parameters},
          {"last_of_step", loss.last_of_step()}};
}

json json_of(const krl_optimizer& optimizer) {
  return {{"lr", optimizer.lr},
          {"beta1", optimizer.beta1},
          {"beta2", optimizer.beta2},
          {"epsilon", optimizer.epsilon},
          {"weight_decay", optimizer.weight_decay},
          {"grad_clip", optimizer.grad_clip}};
}

double number_of(const nlohmann::json& json) {
  if (json.is_null()) return kUnknown;
  if (json.is_string()) return json.get<std::string>() == "inf" ? HUGE_VAL : -HUGE_VAL;
  return json.get<double>();
}

SampleValue sample_of(const json& json) {
  SampleValue sample;
  json.at("text").get_to(sample.text);
  json.at("request").get_to(sample.request);
  json.at("index").get_to(sample.index);
  json.at("prompt_tokens").get_to(sample.prompt_tokens);
  json.at("tokens").get_to(sample.tokens);
  for (const nlohmann::json& value : json.at("logprobs"))
    sample.logprobs.push_back(static_cast<float>(number_of(value)));
  json.at("version").get_to(sample.policy_version);
  const auto stop = std::find(kStops.begin(), kStops.end(), json.at("stop").get<std::string>());
  if (stop == kStops.end())
    throw std::invalid_argument("`stop` of a sample is end, length or aborted");
  sample.stop_reason = static_cast<std::uint32_t>(stop - kStops.begin());
  return sample;
}

std::uint32_t signals_of(const json& names) {
  std::uint32_t signals = 0;
  for (const auto& name : names.get<std::vector<std::string>>()) {
    const auto at = std::find(kSignals.begin(), kSignals.end(), name);
    if (at == kSignals.end()) {
      const std::vector<std::string> known(kSignals.begin(), kSignals.end());
      invalid_argument("signals: there is no '" + name + "'" + did_you_mean(name, known));
    }
    signals |= 1u << (at - kSignals.begin());
  }
  return signals;
}

void push_item(const std::string& text, const DatasetSink& sink) {
  const auto item = nlohmann::ordered_json::parse(text);  // the order of axes is part of a task
  if (item.contains("pair")) return push_pair(item.at("pair"), sink);
  if (item.contains("document")) return push_document(item.at("document"), sink);
  const TaskDefinition task = task_of(item.at("task"));
  const std::string definition = to_json_text(task);
  sink.task(view_of(task, definition));
}

}  // namespace krl::python_components
