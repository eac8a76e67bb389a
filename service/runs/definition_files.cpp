#include "service/runs/definition_files.hpp"

#include <fmt/format.h>

#include <kernelrl/launch.hpp>
#include <kernelrl/task_definition.hpp>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/file_system.hpp"
#include "core/run/best.hpp"

namespace krl::service {
namespace fs = std::filesystem;
namespace {

using Json = nlohmann::ordered_json;

Json case_json(const ResolvedCase& sizes) {
  Json json = {{"label", sizes.label}, {"axes", sizes.axes}};
  for (const ResolvedTensor& tensor : sizes.tensors) {
    if (!tensor.is_input) continue;
    json["inputs"][tensor.name] = {{"dtype", name_of(tensor.dtype)},
                                   {"shape", tensor.shape},
                                   {"values", name_of(tensor.values)},
                                   {"low", tensor.low},
                                   {"high", tensor.high},
                                   {"structure", name_of(tensor.structure)}};
  }
  json["scalars"] = Json::object();
  for (const ResolvedScalar& scalar : sizes.scalars) {
    json["scalars"][scalar.name] = scalar.integer;
    if (is_floating(scalar.dtype)) json["scalars"][scalar.name] = scalar.real;
  }
  return json;
}

// A kernel's source and launch directives, or the error in them.
Json kernel_json(const TaskDefinition& task, const std::string& source) {
  Json json = {{"source", source}};
  const auto program = read_launches(source, task);
  if (!program) {
    json["problem"] =
        fmt::format("line {} of the kernel: {}", program.error().line, program.error().message);
    return json;
  }
  json["scratch"] = json["launches"] = Json::array();
  for (const ScratchDirective& scratch : program->scratch) {
    json["scratch"].push_back({{"name", scratch.name},
                               {"elements", scratch.elements.expression.text()},
                               {"element_bytes", scratch.element_bytes}});
  }
  for (const LaunchDirective& launch : program->launches) {
    Json arguments = Json::array();
    for (const PlacedExpression& argument : launch.arguments)
      arguments.push_back(argument.expression.text());
    json["launches"].push_back({{"kernel", launch.kernel},
                                {"grid", launch.grid.expression.text()},
                                {"block", launch.block.expression.text()},
                                {"shared", launch.shared.expression.text()},
                                {"arguments", arguments}});
  }
  return json;
}

// The task, its cases with their numbers, and its kernels.
Result<Json> task_json(const TaskDefinition& task, const RunLayout& run) {
  Json json = to_json(task);
  json["cases"] = Json::array();
  std::vector<IntegerNames> cases = task.cases;
  cases.insert(cases.end(), task.real.begin(), task.real.end());
  for (const IntegerNames& values : cases) {
    if (const auto sizes = resolve_case(task, values)) json["cases"].push_back(case_json(*sizes));
  }
  if (!task.naive.empty()) json["naive"] = kernel_json(task, task.naive);
  const fs::path file = run.best() / (file_name_of_task(task.id) + ".json");
  std::error_code error;
  if (!fs::exists(file, error)) return json;
  KRL_ASSIGN(const std::string text, read_file(file));
  try {
    json["best"] = Json::parse(text);
    json["best"].update(kernel_json(task, json["best"].at("source")));
    json["best"]["file"] = file.string();
  } catch (const std::exception&) {  // wrong types or names in it
    return invalid(file.string() + ": not a kernel of a run");
  }
  return json;
}

}  // namespace

Result<std::vector<Task>> tasks_of_plan(const Plan& plan, Components& components) {
  std::vector<Task> tasks;
  std::set<std::string> known;
  for (const Settings* settings : plan.in_force()) {
    for (const DatasetSettings& of_one : settings->datasets) {
      if (of_one.role != DatasetRole::kTrain && of_one.role != DatasetRole::kHoldout) continue;
      KRL_ASSIGN(const Dataset* dataset, components.dataset(of_one));
      KRL_ASSIGN(DatasetItems items, dataset->read_all());
      for (Task& task : items.tasks) {
        if (known.insert(task.id).second) tasks.push_back(std::move(task));
      }
    }
  }
  return tasks;
}

Result<int> write_definitions(const std::vector<Task>& tasks, const RunLayout& run,
                              const fs::path& folder, const ChildOptions& child) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return invalid(folder.string() + ": cannot be made: " + error.message());
  Json all = Json::array();
  for (const Task& task : tasks) {
    const auto definition = parse_task_definition(task.definition_json);
    if (!definition) return invalid(task.id + ": " + definition.error());
    KRL_ASSIGN(Json json, task_json(*definition, run));
    all.push_back(std::move(json));
  }
  const fs::path file = folder / "tasks.json.partial";
  const std::string text = all.dump(-1, ' ', false, Json::error_handler_t::replace);
  KRL_TRY(write_atomically(real_file_system(), file, text, Durability::kFast));
  auto code =
      run_script("export_definitions", {file.string(), folder.string(), KERNELRL_VERSION}, child);
  fs::remove(file, error);
  return code;
}

}  // namespace krl::service
