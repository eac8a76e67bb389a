#include "service/kernels/evaluation_request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <kernelrl/spelling.hpp>
#include <kernelrl/task_definition.hpp>
#include <vector>

#include "service/kernels/tasks.hpp"

namespace krl::service {
namespace {

using Json = nlohmann::ordered_json;
using Stages = EvaluationRequest::Stages;

struct NamedStage {
  const char* name;
  std::uint32_t bit;
};
constexpr std::array<NamedStage, 6> kStages = {{{"compile", KRL_STAGE_COMPILE},
                                                {"check", KRL_STAGE_CHECK},
                                                {"time", KRL_STAGE_TIME},
                                                {"counters", KRL_STAGE_COUNTERS},
                                                {"holdout", KRL_STAGE_HOLDOUT},
                                                {"pool", KRL_STAGE_POOL}}};

Json json_of(const Json& value) { return value; }
Json json_of(const std::string& value) { return value; }
Json json_of(std::uint64_t value) { return value; }
Json json_of(Contract value) { return name_of(value); }
Json json_of(const Stages& value) {
  Json names = Json::array();
  for (const auto& [name, bit] : kStages) {
    if ((value.bits & bit) != 0) names.push_back(name);
  }
  return names;
}

// Each returns what the value must be, if it is not: "a string".
std::string read(const Json& json, Json& value) {
  if (!json.is_string() && !json.is_object()) return "a task's id, or an object";
  value = json;
  return {};
}
std::string read(const Json& json, std::string& value) {
  if (!json.is_string()) return "a string";
  value = json.get<std::string>();
  return {};
}
std::string read(const Json& json, std::uint64_t& value) {
  if (!json.is_number_unsigned()) return "a whole number from 0 on";
  value = json.get<std::uint64_t>();
  return {};
}
std::string read(const Json& json, Contract& value) {
  const auto contract = json.is_string() ? named<Contract>(json.get<std::string>()) : std::nullopt;
  if (!contract) return "\"device\" or \"host\"";
  value = *contract;
  return {};
}
std::string read(const Json& json, Stages& value) {
  std::string known;
  for (const auto& [name, bit] : kStages) known += (known.empty() ? "" : ", ") + std::string(name);
  value.bits = KRL_STAGE_COMPILE;
  bool good = json.is_array();
  for (std::size_t i = 0; good && i < json.size(); ++i) {
    std::uint32_t bits = 0;
    for (const auto& [name, bit] : kStages) bits |= json[i] == name ? bit : 0;
    value.bits |= bits;
    good = bits != 0;
  }
  return good ? std::string() : "a list of stages: " + known;
}

// Copying and writing JSON recurse: the stack must suffice for what strangers send.
constexpr int kDeepest = 100;
// An object is a list of its keys here, and is searched for each that is added.
constexpr int kMostKeys = 1000;

bool is_too_intricate(std::string_view json_text) {
  std::array<int, kDeepest + 1> keys{};  // counts for each open object
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < json_text.size(); ++i) {
    const char c = json_text[i];
    if (c == '"') in_string = !in_string;
    if (in_string) {
      i += c == '\\' ? 1 : 0;
    } else if (c == '[' || c == '{') {
      if (++depth > kDeepest) return true;
      keys[static_cast<std::size_t>(depth)] = 0;
    } else if (c == ']' || c == '}') {
      if (--depth < 0) return false;  // the parser refuses it
    } else if (c == ':' && ++keys[static_cast<std::size_t>(depth)] > kMostKeys) {
      return true;
    }
  }
  return false;
}

Status check_keys(const Json& json) {
  std::vector<std::string> known;
  EvaluationRequest::each_field([&](const char* name, auto, bool) { known.emplace_back(name); });
  for (const auto& [key, value] : json.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end())
      return invalid("request: unknown key '" + key + "'" + did_you_mean(key, known));
  }
  return {};
}

}  // namespace

Json to_json(const EvaluationRequest& request) {
  Json json;
  EvaluationRequest::each_field(
      [&](const char* name, auto member, bool) { json[name] = json_of(request.*member); });
  return json;
}

Result<Json> parse_json(std::string_view text) {
  if (is_too_intricate(text))
    return invalid("request: it is nested too deeply, or an object has too many keys");
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    const std::string what = error.what();  // "[json.exception.parse_error.101] parse error at …"
    return invalid("request: " + what.substr(std::min(what.find("] ") + 2, what.size())));
  }
}

Result<EvaluationRequest> evaluation_request_of(const Json& json) {
  if (!json.is_object()) return invalid("request: must be an object");
  KRL_TRY(check_keys(json));
  EvaluationRequest request;
  std::string problem;
  EvaluationRequest::each_field([&](const char* name, auto member, bool is_required) {
    const auto found = json.find(name);
    if (!problem.empty() || (found == json.end() && !is_required)) return;
    if (found == json.end()) {
      problem = fmt::format("request: key '{}' is missing", name);
    } else if (const std::string must = read(*found, request.*member); !must.empty()) {
      problem = fmt::format("request: {} must be {}, and is {:.60}", name, must, found->dump());
    }
  });
  if (!problem.empty()) return invalid(problem);
  return request;
}

Result<EvaluationRequest> parse_evaluation_request(std::string_view json_text) {
  KRL_ASSIGN(const Json json, parse_json(json_text));
  return evaluation_request_of(json);
}

Result<Task> task_of_definition(const Json& definition) {
  const std::string text = definition.dump(-1, ' ', false, Json::error_handler_t::replace);
  const auto task = parse_task_definition(text);
  if (!task) return invalid("request: task: " + task.error());
  return Task{task->id, task->title, task->prompt, static_cast<unsigned>(task->tier),
              krl::to_json_text(*task)};
}

Result<JudgedKernel> judge(const EvaluationRequest& request, KernelJudges& judges,
                           Components& components, const CallScope& scope) {
  KRL_ASSIGN(const Task task, request.task.is_string()
                                  ? find_built_in_task(request.task, components)
                                  : task_of_definition(request.task));
  CallScope own = scope;
  if (request.deadline_s != 0) own.limit = std::chrono::seconds(request.deadline_s);
  EvaluateOptions options = judges.options();
  options.stages = request.stages.bits;
  options.seed = request.seed;
  options.contract = request.contract;
  options.scope = &own;
  return judges.judge(task, request.source, options);
}

}  // namespace krl::service
