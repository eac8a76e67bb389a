#include "core/episode/sample_record.hpp"

#include <nlohmann/json.hpp>

#include "core/episode/feedback.hpp"
#include "core/task/source_identity.hpp"

namespace krl::core {
namespace {

using nlohmann::json;

// The reason of a verdict; for a compile error, the first error and its line.
std::string why_of(const TurnRecord& turn) {
  if (turn.infra_error()) return turn.infra_why();
  if (turn.evaluation.verdict == Verdict::kCompileError) return describe_briefly(turn.evaluation);
  return turn.evaluation.why;
}

json record_of(const Episode& episode, std::size_t index, const std::vector<std::string>& terms) {
  const TurnRecord& turn = episode.turns[index];
  json prompt = json::array(), values = json::object();
  for (const Message& m : turn.prompt) prompt.push_back(m.text);
  for (std::size_t i = 0; i < std::min(terms.size(), turn.score.terms.size()); ++i)
    values[terms[i]] = turn.score.terms[i];
  json record = {{"task", episode.task->id},
                 {"group", episode.group.index},
                 {"member", episode.member},
                 {"turn", index + 1},
                 {"prompt", prompt},
                 {"answer", turn.answer.text},
                 {"tokens", turn.answer.tokens.size()},
                 {"version", turn.answer.policy_version},
                 {"verdict", name_of(turn.evaluation.verdict)},
                 {"why", why_of(turn)},
                 {"score", turn.score.total},
                 {"terms", values},
                 {"speedup", turn.evaluation.speedup()},
                 {"roofline", turn.evaluation.value("roofline").value_or(kUnknown)},
                 {"strategies", describe_strategies(turn.evaluation)}};
  if (episode.tuned)
    record["tuned_from"] = core::identity_of(episode.given.back().candidate.source);
  return record;
}

}  // namespace

std::vector<json> sample_records(const Episode& episode, const std::vector<std::string>& terms) {
  std::vector<json> records;
  for (std::size_t t = 0; t < episode.turns.size(); ++t)
    records.push_back(record_of(episode, t, terms));
  return records;
}

std::string sample_line(const json& record) {
  return record.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace krl::core
