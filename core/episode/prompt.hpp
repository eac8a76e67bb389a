// Prompts: a task, and what earlier turns gave, as the messages that a policy answers.
#pragma once

#include <filesystem>
#include <kernelrl/task_definition.hpp>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/episode/episode.hpp"
#include "core/episode/template.hpp"
#include "core/plugin/policy.hpp"
#include "core/task/task.hpp"

namespace krl {

// The signature of a task in C's terms: one line for the inputs and scalars, one for the outputs.
//   in float x[rows, cols], float alpha
//   out float y[rows]
std::string signature_of(const TaskDefinition& task);

// What prompts may say of the machine that times kernels.
struct TimedOn {
  std::string device;       // "NVIDIA H200"; empty: not known
  bool real_sizes = false;  // are tasks that name real sizes timed at those?
};

// Immutable after loading; any thread may build prompts.
class PromptBuilder {
 public:
  // `folder` (empty: the installed prompts/default, or prompts/host for that contract) holds
  // task.txt (with {{id}} {{title}} {{prompt}} {{signature}} {{cases}} {{device}} {{baseline}}
  // {{history}}), turn.txt for the newest of the earlier turns ({{turn}} {{kernel}} {{verdict}}
  // {{why}} {{result}} {{strategies}} {{repeat}}) and older_turn.txt for those before it.
  static Result<PromptBuilder> load(const std::filesystem::path& folder, std::string system,
                                    Contract contract = Contract::kDevice, TimedOn timed_on = {});

  // The prompt of the turn after `earlier`.
  Result<Prompt> build(const Task& task, const std::vector<TurnRecord>& earlier) const;

 private:
  PromptBuilder(Template task, Template turn, Template older, std::string system, TimedOn timed_on);

  std::string history(const std::vector<TurnRecord>& earlier) const;

  Template task_, turn_, older_turn_;
  std::string system_;
  TimedOn timed_on_;
};

}  // namespace krl
