// The real `cpu` backend, through the C boundary, for tests of tasks and kernels.
#pragma once

#include <kernelrl/task_definition.hpp>
#include <kernelrl/testing.hpp>

#include <cstdint>
#include <string>

namespace krl::testing {

class CpuBackend {
 public:
  CpuBackend()
      : plugin_(KERNELRL_BINARY_DIR "/lib/kernelrl/plugins/cpu.krl.so"),
        backend_(plugin_.create<krl_backend_v>(KRL_BACKEND, "cpu", {{"cache", "off"}})) {}

  struct Result {
    std::uint32_t verdict = KRL_VERDICT_INFRA_ERROR;
    std::string why;
  };

  // Throws Failure if the backend is in trouble.
  Result evaluate(const TaskDefinition& task, const std::string& source,
                  std::uint32_t stages = kStages) const {
    const std::string definition = to_json_text(task);
    const krl_task c_task = to_c_task(task, definition);
    const krl_candidate candidate{sizeof(krl_candidate), KRL_CONTRACT_DEVICE, &c_task,
                                  to_c(source)};
    const krl_evaluate_options options{sizeof(krl_evaluate_options), stages, kSeed};
    Result result;
    const krl_evaluation_sink sink = recorder(&result);
    backend_.call().require(backend_.table().evaluate(backend_.self(), backend_.context(),
                                                      &candidate, &options, &sink));
    return result;
  }

  // What is wrong with a task; empty if nothing is.
  std::string prepare(const TaskDefinition& task) const {
    const std::string definition = to_json_text(task);
    const krl_task c_task = to_c_task(task, definition);
    const krl_evaluate_options options{sizeof(krl_evaluate_options), kStages | KRL_STAGE_HOLDOUT,
                                       kSeed};
    const krl_status status =
        backend_.table().prepare(backend_.self(), backend_.context(), &c_task, &options);
    return status == KRL_OK ? "" : backend_.call().why;
  }

 private:
  static constexpr std::uint32_t kStages = KRL_STAGE_COMPILE | KRL_STAGE_CHECK;
  static constexpr std::uint64_t kSeed = 17;

  static krl_task to_c_task(const TaskDefinition& task, const std::string& definition) {
    krl_task c{};
    c.struct_size = sizeof c;
    c.tier = static_cast<std::uint32_t>(task.tier);
    c.id = to_c(task.id);
    c.title = to_c(task.title);
    c.prompt = to_c(task.prompt);
    c.definition_json = to_c(definition);
    return c;
  }

  static krl_evaluation_sink recorder(Result* result) {
    krl_evaluation_sink sink{};
    sink.struct_size = sizeof sink;
    sink.ctx = result;
    sink.identity = [](const krl_evaluation_sink*, krl_str, krl_str) -> krl_status {
      return KRL_OK;
    };
    sink.compile_log = [](const krl_evaluation_sink*, krl_str) -> krl_status { return KRL_OK; };
    sink.diagnostic = [](const krl_evaluation_sink*, const krl_diagnostic*) -> krl_status {
      return KRL_OK;
    };
    sink.kernel = [](const krl_evaluation_sink*, const krl_kernel*) -> krl_status {
      return KRL_OK;
    };
    sink.add_case = [](const krl_evaluation_sink*, const krl_case*) -> krl_status {
      return KRL_OK;
    };
    sink.value = [](const krl_evaluation_sink*, const krl_value*) -> krl_status { return KRL_OK; };
    sink.artifact = [](const krl_evaluation_sink*, krl_str, krl_str) -> krl_status {
      return KRL_OK;
    };
    sink.verdict = [](const krl_evaluation_sink* self, std::uint32_t verdict,
                      krl_str why) -> krl_status {
      *static_cast<Result*>(self->ctx) = {verdict, std::string(view(why))};
      return KRL_OK;
    };
    return sink;
  }

  Plugin plugin_;
  Instance<krl_backend_v> backend_;
};

}  // namespace krl::testing
