// Judges the answers of a folder or a table, some at a time, and keeps a line of JSON for each, so
// that a later call goes on where this one ended, however that was.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <unordered_set>

#include "core/base/metrics.hpp"
#include "core/task/task.hpp"
#include "service/kernels/claims.hpp"
#include "service/kernels/kernel_judges.hpp"
#include "service/process/output_lines.hpp"

namespace krl::service {
using namespace core;

struct AnswerToJudge {
  std::string name;  // in the output, such as a file relative to its folder
  const Task* task = nullptr;
  Result<std::string> source;        // or why it cannot be read
  std::optional<Contract> contract;  // none: that of the call
  nlohmann::ordered_json record;     // kept in the line, if it is not null
  Claim claim;
};

// The relevant parts of a line of the output.
struct JudgedLine {
  std::string verdict;  // "not judged": its evaluation failed
  std::string group;    // the task's id up to its last '/'
  std::optional<KernelBenchVerdict> kernelbench;
  std::optional<bool> right;  // none: it did not run
  double speedup = kUnknown;
  Metrics costs;  // see cascade_costs.hpp
  Claim claim;
};

struct AnswerSummary {
  std::map<std::string, std::size_t> verdicts;  // numbers of kernels
  std::vector<KernelBenchVerdict> kernelbench;
  Claims claims;
  Metrics costs;               // sums
  std::string device;          // empty if nothing was timed
  std::size_t failed = 0;      // not judged, or their lines not written
  std::optional<Error> ended;  // nothing more was judged because of it
};

class AnswerEvaluation {
 public:
  // Hears of an answer when it is judged: "ok", "wrong_result: …". One thread calls it at a time.
  using Judged = std::function<void(const std::string& name, const std::string& headline)>;

  // Reads what `output` holds, and continues after the last whole line; a file without such lines
  // is refused, and stays as it is. Empty: nothing is kept. `components` outlives the result.
  static Result<std::unique_ptr<AnswerEvaluation>> open(const JudgeOptions& options,
                                                        const std::string& output,
                                                        Components& components);

  // A second verdict on an answer of the same name is an error: the output holds each once.
  void judge_once() { once_ = true; }

  // Judges the answers of `next`, until it returns none; it is called by one thread at a time. An
  // error: there was none.
  Result<AnswerSummary> run(const std::function<std::optional<AnswerToJudge>()>& next,
                            const Judged& judged);

 private:
  AnswerEvaluation(KernelJudges judges, std::string options)
      : judges_(std::move(judges)), options_(std::move(options)) {}

  Status open_output(const std::string& file);
  std::string digest(const AnswerToJudge& answer) const;
  // Returns false if nothing more is judged.
  bool evaluate(const AnswerToJudge& answer, const Judged& judged);
  void end(Error error);
  void count(const JudgedLine& line);

  KernelJudges judges_;
  const std::string options_;                  // all that decides an evaluation, besides the answer
  std::map<std::string, JudgedLine> earlier_;  // keyed by digest
  std::unordered_set<std::string> names_;      // their names
  bool once_ = false;
  std::mutex next_mutex_;
  std::mutex mutex_;  // guards the members below
  std::optional<OutputLines> output_;
  AnswerSummary summary_;
};

}  // namespace krl::service
