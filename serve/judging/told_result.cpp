#include "serve/judging/told_result.hpp"

#include <algorithm>

#include "core/episode/feedback.hpp"

namespace krl::serve {
namespace {

constexpr const char* kHoldoutFailed = "it fails on shapes that are not shown";

bool is_unseen(const Case& c) { return c.kind == CaseKind::kHoldout || c.kind == CaseKind::kFresh; }

// The case whose failure a training prompt would show.
const Case* shown_failure(const Evaluation& evaluation) {
  const auto found = std::ranges::find_if(
      evaluation.cases, [](const Case& c) { return c.kind != CaseKind::kHoldout && !c.passed(); });
  return found == evaluation.cases.end() ? nullptr : &*found;
}

bool mentions(const std::string& text, const std::string& part) {
  return !part.empty() && text.find(part) != std::string::npos;
}

}  // namespace

// The evaluation is about as large as its JSON.
std::size_t bytes_of(const ToldResult& told) { return 512 + 3 * told.json.size(); }

Evaluation without_secrets(Evaluation evaluation) {
  const Case* const shown = shown_failure(evaluation);
  std::vector<bool> is_secret;
  for (Case& c : evaluation.cases) {
    is_secret.push_back(is_unseen(c) && &c != shown);
    if (!is_secret.back()) continue;
    if (!c.passed() && (mentions(evaluation.why, c.label) || mentions(evaluation.why, c.detail)))
      evaluation.why = kHoldoutFailed;
    Case rest;
    rest.verdict = c.verdict;
    rest.kind = c.kind;
    c = std::move(rest);
  }
  std::erase_if(evaluation.values, [&](const Value& value) {
    return value.case_index >= 0 && is_secret[static_cast<std::size_t>(value.case_index)];
  });
  return evaluation;
}

ToldPointer tell(const ServedTask& task, const std::string& source, service::JudgedKernel judged) {
  ToldResult told;
  judged.evaluation = without_secrets(std::move(judged.evaluation));
  Candidate candidate;
  candidate.source = source;
  told.headline =
      std::string(name_of(judged.evaluation.verdict)) + ": " + describe_briefly(judged.evaluation);
  told.feedback = describe_result(candidate, judged.evaluation);
  nlohmann::ordered_json json = {{"task", task.task.id}, {"digest", task.digest}};
  json.update(to_json(judged));
  json["headline"] = told.headline;
  json["feedback"] = told.feedback;
  told.json = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  told.json = told.json.substr(1, told.json.size() - 2);
  told.evaluation = std::move(judged.evaluation);
  return std::make_shared<const ToldResult>(std::move(told));
}

}  // namespace krl::serve
