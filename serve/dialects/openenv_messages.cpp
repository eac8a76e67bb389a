#include "serve/dialects/openenv_messages.hpp"

#include <cmath>

#include "serve/dialects/environment.hpp"

namespace krl::serve::openenv {
namespace {

// The largest error of the cases that were compared.
double max_diff(const Evaluation& evaluation) {
  double most = kUnknown;
  for (const Case& c : evaluation.cases) most = std::fmax(most, c.max_abs_error);
  return most;
}

// What the last answer gave; null where nothing was answered yet.
void add_result(const JudgedTurn* judged, Json& observation) {
  for (const char* key : {"feedback", "compilation_success", "compilation_error",
                          "correctness_pass", "max_diff", "speedup"})
    observation[key] = nullptr;
  if (judged == nullptr) return;
  const Evaluation& evaluation = judged->told->evaluation;
  observation["feedback"] = judged->told->feedback;
  observation["compilation_success"] = evaluation.compiled();
  if (!evaluation.compiled()) observation["compilation_error"] = evaluation.why;
  if (!evaluation.compiled()) return;
  observation["correctness_pass"] = evaluation.passed();
  observation["max_diff"] = number_or_null(max_diff(evaluation));
  if (evaluation.passed()) observation["speedup"] = number_or_null(evaluation.speedup());
}

Json schema(const char* title, Json properties, Json required) {
  return {{"title", title},
          {"type", "object"},
          {"properties", std::move(properties)},
          {"required", std::move(required)}};
}

}  // namespace

Json observation(const ClientEpisode& episode, const std::string& device,
                 const JudgedTurn* judged) {
  const Task& task = episode.task();
  const Prompt prompt = episode.prompt();
  Json observation = {{"problem_id", task.id},
                      {"problem_description", prompt.back().text},
                      {"reference_code", task.facts.naive},
                      {"gpu_info", device},
                      {"turn", episode.turns()},
                      {"max_turns", episode.most_turns()}};
  if (prompt.size() > 1) observation["system_prompt"] = prompt.front().text;
  add_result(judged, observation);
  observation["metadata"] = {{"episode_id", episode.id()}};
  if (judged != nullptr) {
    observation["metadata"]["verdict"] = name_of(judged->told->evaluation.verdict);
    observation["metadata"]["score"] = judged->score.total;
  }
  return {{"observation", std::move(observation)},
          {"reward", judged != nullptr ? Json(judged->reward) : Json(nullptr)},
          {"done", judged != nullptr && judged->ends}};
}

Json state(const ClientEpisode* episode) {
  if (episode == nullptr) return {{"episode_id", nullptr}, {"step_count", 0}};
  return {{"episode_id", episode->id()},
          {"step_count", episode->turns()},
          {"problem_id", episode->task().id},
          {"max_turns", episode->most_turns()}};
}

Json schemas() {
  const Json text = {{"type", "string"}}, whole = {{"type", "integer"}},
             object = {{"type", "object"}};
  const auto or_null = [](const char* type) { return Json{{"type", Json::array({type, "null"})}}; };
  Json code = text;
  code["description"] =
      "a kernel's source, or an answer that holds it: <KERNEL> and a fenced block, as the prompt says";
  const Json action = schema("KernelAction", {{"code", code}, {"metadata", object}}, {"code"});
  const Json observation = schema("KernelObservation",
                                  {{"problem_id", text},
                                   {"problem_description", text},
                                   {"reference_code", text},
                                   {"gpu_info", text},
                                   {"turn", whole},
                                   {"max_turns", whole},
                                   {"system_prompt", text},
                                   {"feedback", or_null("string")},
                                   {"compilation_success", or_null("boolean")},
                                   {"compilation_error", or_null("string")},
                                   {"correctness_pass", or_null("boolean")},
                                   {"max_diff", or_null("number")},
                                   {"speedup", or_null("number")},
                                   {"metadata", object}},
                                  {"problem_id", "problem_description", "turn", "max_turns"});
  const Json state = schema("KernelState",
                            {{"episode_id", or_null("string")},
                             {"step_count", whole},
                             {"problem_id", text},
                             {"max_turns", whole}},
                            {"episode_id", "step_count"});
  return {{"action", action}, {"observation", observation}, {"state", state}};
}

}  // namespace krl::serve::openenv
