// A request to judge one kernel, and its JSON form:
//
//   {"task": "softmax_rows", "source": "…", "contract": "device", "stages": ["compile", "check"],
//    "seed": 0, "deadline_s": 60}
//
// Only `task` and `source` must be there.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "service/kernels/kernel_judges.hpp"

namespace krl::service {

struct EvaluationRequest {
  // The parts of an evaluation; compiling is always one. A type of its own, as its JSON form is.
  struct Stages {
    std::uint32_t bits = EvaluateOptions().stages;
    bool operator==(const Stages& other) const { return bits == other.bits; }
  };

  nlohmann::ordered_json
      task;  // the id of a built-in task, or the keys of a task file: docs/tasks.md
  std::string source;
  Contract contract = Contract::kDevice;
  Stages stages;
  std::uint64_t seed = 0;        // inputs and orders follow from it
  std::uint64_t deadline_s = 0;  // seconds until there must be a verdict; 0: any time

  // Calls use(name, member, is_required) for each member.
  template <class Use>
  static void each_field(const Use& use) {
    use("task", &EvaluationRequest::task, true);
    use("source", &EvaluationRequest::source, true);
    use("contract", &EvaluationRequest::contract, false);
    use("stages", &EvaluationRequest::stages, false);
    use("seed", &EvaluationRequest::seed, false);
    use("deadline_s", &EvaluationRequest::deadline_s, false);
  }
};

nlohmann::ordered_json to_json(const EvaluationRequest& request);

// An error names the line of broken JSON, or the key that is unknown, missing or of a wrong type.
Result<nlohmann::ordered_json> parse_json(std::string_view text);
Result<EvaluationRequest> evaluation_request_of(const nlohmann::ordered_json& json);
Result<EvaluationRequest> parse_evaluation_request(std::string_view json_text);

// `definition`: the keys of a task file.
Result<Task> task_of_definition(const nlohmann::ordered_json& definition);

// `scope` cancels the call; the request's own deadline is added to it.
Result<JudgedKernel> judge(const EvaluationRequest& request, KernelJudges& judges,
                           Components& components, const CallScope& scope);

}  // namespace krl::service
