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

  // Throws Failure if the backend is in trouble.
  Evaluation evaluate(const TaskDefinition& task, const std::string& source,
                      std::uint32_t stages = kStages) const {
    const std::string definition = to_json_text(task);
    const krl_task c_task = to_c_task(task, definition);
    const krl_candidate candidate{sizeof(krl_candidate), KRL_CONTRACT_DEVICE, &c_task,
                                  to_c(source)};
    const krl_evaluate_options options{sizeof(krl_evaluate_options), stages, kSeed};
    const EvaluationReceiver receiver;
    backend_.call().require(backend_.table().evaluate(backend_.self(), backend_.context(),
                                                      &candidate, &options, receiver.c()));
    return receiver.evaluation();
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

  Plugin plugin_;
  Instance<krl_backend_v> backend_;
};

}  // namespace krl::testing
