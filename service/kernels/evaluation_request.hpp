// A request to judge one kernel, and its JSON form:
//
//   {"task": "softmax_rows", "source": "…", "contract": "device", "stages": ["compile", "check"],
//    "seed": 0, "limit_s": 0}
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
  std::uint64_t seed = 0;     // inputs and orders follow from it
  std::uint64_t limit_s = 0;  // seconds for a call of the backend; 0: no limit

  // Calls use(name, member, is_required) for each member.
  template <class Use>
  static void each_field(const Use& use) {
    use("task", &EvaluationRequest::task, true);
    use("source", &EvaluationRequest::source, true);
    use("contract", &EvaluationRequest::contract, false);
    use("stages", &EvaluationRequest::stages, false);
    use("seed", &EvaluationRequest::seed, false);
    use("limit_s", &EvaluationRequest::limit_s, false);
  }
};

nlohmann::ordered_json to_json(const EvaluationRequest& request);

// An error names the line of broken JSON, or the key that is unknown, missing or of a wrong type.
Result<EvaluationRequest> parse_evaluation_request(std::string_view json_text);

// `scope` cancels the call; the request's own limit is added to it.
Result<JudgedKernel> judge(const EvaluationRequest& request, KernelJudges& judges,
                           Components& components, const CallScope& scope);

}  // namespace krl::service
