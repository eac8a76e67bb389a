#include "core/episode/prompt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/installation.hpp"
#include "core/episode/feedback.hpp"

namespace krl {
namespace {

std::string_view c_type(DType type) {
  static constexpr std::array<std::string_view, 6> kNames = {"float", "half",      "__nv_bfloat16",
                                                             "int",   "long long", "bool"};
  return kNames[static_cast<std::size_t>(type)];
}

std::string declaration(const TensorDefinition& t) {
  return fmt::format("{} {}[{}]", c_type(t.dtype), t.name, fmt::join(t.shape, ", "));
}

// "same as turn 1", if this kernel was tried before.
std::string repeat_of(const std::vector<TurnRecord>& earlier, std::size_t index) {
  for (std::size_t i = 0; i < index; ++i) {
    if (earlier[i].candidate.source == earlier[index].candidate.source) {
      return fmt::format("This is the very kernel of turn {}: try something else.", i + 1);
    }
  }
  return {};
}

std::string without_last_newline(std::string text) {
  if (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

Template::Values values_of(const std::vector<TurnRecord>& earlier, std::size_t index) {
  const TurnRecord& turn = earlier[index];
  return {{"turn", std::to_string(index + 1)},
          {"kernel", without_last_newline(turn.candidate.source)},
          {"verdict", std::string(name_of(turn.evaluation.verdict))},
          {"why", describe_briefly(turn.evaluation)},
          {"result", describe_result(turn.candidate, turn.evaluation)},
          {"strategies", describe_strategies(turn.evaluation)},
          {"repeat", repeat_of(earlier, index)}};
}

// "n=1003; n=16387": where kernels of the task are timed.
std::string timed_cases(const TaskDefinition& task, bool real_sizes) {
  std::vector<std::string> labels;
  for (const IntegerNames& values : real_sizes && !task.real.empty() ? task.real : task.cases) {
    if (const auto resolved = resolve_case(task, values)) labels.push_back(resolved->label);
  }
  return fmt::format("{}", fmt::join(labels, "; "));
}

const std::vector<std::string> kTaskNames = {"id",    "title",  "prompt",   "signature",
                                             "cases", "device", "baseline", "history"};
const std::vector<std::string> kTurnNames = {"turn",   "kernel",     "verdict", "why",
                                             "result", "strategies", "repeat"};

}  // namespace

std::string signature_of(const TaskDefinition& task) {
  std::vector<std::string> in, out;
  for (const TensorDefinition& t : task.inputs) in.push_back(declaration(t));
  for (const ScalarDefinition& s : task.scalars)
    in.push_back(fmt::format("{} {}", c_type(s.dtype), s.name));
  for (const TensorDefinition& t : task.outputs) out.push_back(declaration(t));
  const std::string inputs = in.empty() ? "" : fmt::format("in {}\n", fmt::join(in, ", "));
  return inputs + fmt::format("out {}", fmt::join(out, ", "));
}

PromptBuilder::PromptBuilder(Template task, Template turn, Template older, std::string system,
                             TimedOn timed_on)
    : task_(std::move(task)),
      turn_(std::move(turn)),
      older_turn_(std::move(older)),
      system_(std::move(system)),
      timed_on_(std::move(timed_on)) {}

Result<PromptBuilder> PromptBuilder::load(const std::filesystem::path& templates,
                                          std::string system, Contract contract, TimedOn timed_on) {
  const char* const usual = contract == Contract::kHost ? "host" : "default";
  const std::filesystem::path folder =
      templates.empty() ? shared_files() / "configs/prompts" / usual : templates;
  KRL_ASSIGN(Template task, Template::read(folder / "task.txt", kTaskNames));
  KRL_ASSIGN(Template turn, Template::read(folder / "turn.txt", kTurnNames));
  KRL_ASSIGN(Template older, Template::read(folder / "older_turn.txt", kTurnNames));
  return PromptBuilder(std::move(task), std::move(turn), std::move(older), std::move(system),
                       std::move(timed_on));
}

std::string PromptBuilder::history(const std::vector<TurnRecord>& earlier) const {
  std::string text;
  for (std::size_t i = 0; i < earlier.size(); ++i) {
    const bool newest = i + 1 == earlier.size();
    text += (newest ? turn_ : older_turn_).render(values_of(earlier, i));
  }
  return text;
}

Result<Prompt> PromptBuilder::build(const Task& task,
                                    const std::vector<TurnRecord>& earlier) const {
  const auto definition = parse_task_definition(task.definition_json);
  if (!definition) return invalid(fmt::format("task '{}': {}", task.id, definition.error()));
  Prompt prompt;
  if (!system_.empty()) prompt.push_back({KRL_ROLE_SYSTEM, system_});
  prompt.push_back(
      {KRL_ROLE_USER, task_.render({{"id", task.id},
                                    {"title", task.title},
                                    {"prompt", without_last_newline(task.prompt)},
                                    {"signature", signature_of(*definition)},
                                    {"cases", timed_cases(*definition, timed_on_.real_sizes)},
                                    {"device", timed_on_.device},
                                    {"baseline", without_last_newline(definition->naive)},
                                    {"history", history(earlier)}})});
  return prompt;
}

}  // namespace krl
