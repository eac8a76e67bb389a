#include "bench/export_kernels.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "plugins/backends/evaluator/check/case_data.hpp"
#include "plugins/backends/evaluator/source/launch_schedule.hpp"

namespace krl::bench {
using namespace evaluator;
namespace {

using nlohmann::json;

json to_json(const ResolvedTensor& tensor) {
  return {{"name", tensor.name},
          {"dtype", name_of(tensor.dtype)},
          {"shape", tensor.shape},
          {"values", kValueKinds[static_cast<std::size_t>(tensor.values)].first},
          {"low", tensor.low},
          {"high", tensor.high}};
}

// An argument as C++ text: a buffer's name, or a number.
std::string text_of(const LaunchArgument& argument, const ResolvedCase& resolved,
                    const ResolvedProgram& program) {
  switch (argument.kind) {
    case LaunchArgument::kTensor:
      return resolved.tensors[argument.index].name;
    case LaunchArgument::kScratch:
      return program.scratch[argument.index].name;
    case LaunchArgument::kScalar: {
      const ResolvedScalar& scalar = resolved.scalars[argument.index];
      return is_floating(scalar.dtype) ? std::to_string(scalar.real)
                                       : std::to_string(scalar.integer);
    }
    case LaunchArgument::kTensorMap:
      return program.tensor_maps[argument.index].name;
    case LaunchArgument::kInteger:
      break;
  }
  return std::to_string(argument.integer);
}

json to_json(const ResolvedLaunch& launch, const ResolvedCase& resolved,
             const ResolvedProgram& program) {
  json arguments = json::array();
  for (const LaunchArgument& argument : launch.arguments) {
    arguments.push_back(text_of(argument, resolved, program));
  }
  return {{"kernel", launch.kernel},
          {"grid", launch.grid},
          {"block", launch.block},
          {"shared_bytes", launch.shared_bytes},
          {"arguments", arguments}};
}

json exported(const Work& work) {
  const PreparedTask task = prepare_task(work.task.definition_json);
  const ResolvedCase& resolved = task.cases.front();
  const auto schedule = read_schedule(scan_cuda_source(work.source), task.definition,
                                      std::span(task.cases).first(1), {});
  if (!schedule) throw Failure(KRL_INVALID_ARGUMENT, described(schedule.error()));
  const ResolvedProgram& program = schedule->programs.front();
  json kernel = {{"task", work.task.id},
                 {"source", work.source},
                 {"reference", task.definition.reference},
                 {"rtol", task.definition.tolerance.rtol},
                 {"atol", task.definition.tolerance.atol}};
  const std::size_t inputs = task.definition.inputs.size();
  for (std::size_t i = 0; i < resolved.tensors.size(); ++i) {
    kernel["tensors"].push_back(to_json(resolved.tensors[i]));
    kernel["tensors"].back()["input"] = i < inputs;
  }
  for (const auto& output : task.definition.outputs) kernel["outputs"].push_back(output.name);
  kernel["scalars"] = json::array();
  for (const ResolvedScalar& scalar : resolved.scalars) {
    if (is_floating(scalar.dtype)) kernel["scalars"].push_back(scalar.real);
    if (!is_floating(scalar.dtype)) kernel["scalars"].push_back(scalar.integer);
  }
  kernel["scratch"] = json::array();
  for (const ResolvedScratch& scratch : program.scratch) {
    kernel["scratch"].push_back({{"name", scratch.name}, {"bytes", scratch.bytes}});
  }
  for (const ResolvedLaunch& launch : program.launches) {
    kernel["launches"].push_back(to_json(launch, resolved, program));
  }
  return kernel;
}

}  // namespace

void export_kernels(const std::vector<Work>& works, const std::string& folder) {
  std::filesystem::create_directories(folder);
  for (std::size_t i = 0; i < works.size(); ++i) {
    char name[32];
    std::snprintf(name, sizeof name, "/%04zu.json", i);
    std::ofstream file(folder + name);
    file << exported(works[i]).dump(1) << "\n";
    if (!file) throw Failure(KRL_UNAVAILABLE, folder + name + " cannot be written");
  }
}

}  // namespace krl::bench
