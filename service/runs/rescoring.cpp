#include "service/runs/rescoring.hpp"

#include <filesystem>
#include <kernelrl/language.hpp>
#include <kernelrl/temporary_folder.hpp>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>

#include "core/episode/evaluations.hpp"
#include "core/episode/feedback.hpp"
#include "core/run/ledger.hpp"
#include "core/stage/stage_setup.hpp"
#include "service/runs/kept_files.hpp"

namespace krl::service {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kAnyRound = std::numeric_limits<int>::max();

// The ledger of a run, copied, because opening one mends it.
struct LedgerCopy {
  TemporaryFolder folder{"kernelrl-ledger"};
  std::unique_ptr<Ledger> ledger;

  Status read(const fs::path& from) {
    std::error_code error;
    if (fs::exists(from, error)) fs::copy(from, folder.path(), fs::copy_options::recursive, error);
    if (error)
      return failure(Code::kUnavailable, "cannot copy " + from.string() + ": " + error.message());
    KRL_ASSIGN(ledger, Ledger::open(folder.path(), kAnyRound));
    return {};
  }
};

TurnRecord turn_of(const json& sample, bool in_thought) {
  TurnRecord turn;
  for (const auto& text : sample.at("prompt"))
    turn.prompt.push_back({KRL_ROLE_USER, text.get<std::string>()});
  turn.answer.text = sample.at("answer");
  turn.answer.tokens.resize(sample.at("tokens").get<std::size_t>());
  turn.candidate = extract_candidate(turn.answer, in_thought);
  return turn;
}

ScoredTurn recorded_turn(const json& sample) {
  ScoredTurn turn;
  turn.task = sample.at("task");
  turn.recorded = sample.at("score");
  sample.at("terms").get_to(turn.recorded_terms);
  return turn;
}

}  // namespace

Result<Rescoring> Rescoring::open(const Settings& settings, std::uint64_t run_seed,
                                  Components& components) {
  KRL_ASSIGN(JudgeBackends backends, open_backends(settings.backend, components));
  const Judge judge(backends);
  KRL_ASSIGN(Scorer scorer, create_scorer(settings, &judge.info(), components));
  return Rescoring(settings, run_seed, std::move(backends), std::move(scorer));
}

Result<ScoredTurn> Rescoring::score(const Task& task, const std::string& source) const {
  const Evaluations evaluations(Judge(backends_), run_seed_, nullptr, settings_->rollout.contract);
  KRL_TRY(evaluations.prepare(task));
  Episode episode;
  episode.task = &task;
  TurnRecord& turn = episode.turns.emplace_back();
  turn.candidate = {source, {}, Format::kExact};
  turn.answer.text =
      "<KERNEL>\n" + std::string(opening_fence(source)) + source + "\n```\n</KERNEL>";
  turn.prompt = {{KRL_ROLE_USER, task.prompt}};
  KRL_ASSIGN(Evaluated found, evaluations.evaluate(task, turn.candidate, 0));
  turn.evaluation = std::move(found.evaluation);
  if (turn.evaluation.infra_error()) return failure(Code::kUnavailable, turn.evaluation.why);
  KRL_ASSIGN(Score score, scorer_.score(episode));
  ScoredTurn scored;
  scored.task = task.id;
  scored.verdict = turn.evaluation.verdict;
  scored.why = describe_briefly(turn.evaluation);
  scored.score = std::move(score);
  return scored;
}

Status Rescoring::score(const RunLayout& run, const std::vector<Task>& tasks,
                        const std::function<void(const ScoredTurn&)>& use) const {
  LedgerCopy copy;
  KRL_TRY(copy.read(run.ledger()));
  const Evaluations evaluations(Judge(backends_), run_seed_, copy.ledger.get(),
                                settings_->rollout.contract);
  std::map<std::string, const Task*> by_id;
  for (const Task& task : tasks) by_id.emplace(task.id, &task);

  std::set<std::string> prepared;
  Episode episode;
  return each_sample(run, [&](const json& sample, int) -> Status {
    if (sample.at("turn") == 1) episode = {};
    const auto task = by_id.find(sample.at("task").get<std::string>());
    if (task == by_id.end() || sample.at("verdict") == name_of(Verdict::kInfraError)) return {};
    episode.task = task->second;
    if (prepared.insert(episode.task->id).second) KRL_TRY(evaluations.prepare(*episode.task));
    TurnRecord& turn = episode.turns.emplace_back(turn_of(sample, settings_->rollout.in_thought));
    KRL_ASSIGN(Evaluated found, evaluations.evaluate(*episode.task, turn.candidate, kAnyRound));
    turn.evaluation = std::move(found.evaluation);
    if (turn.evaluation.infra_error()) {
      episode.turns.pop_back();
      return {};
    }
    ScoredTurn scored = recorded_turn(sample);
    scored.verdict = turn.evaluation.verdict;
    KRL_ASSIGN(scored.score, scorer_.score(episode));
    turn.score = scored.score;
    use(scored);
    return {};
  });
}

}  // namespace krl::service
