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

#include "cli/claims.hpp"
#include "cli/command_line.hpp"
#include "cli/kernel_judges.hpp"
#include "core/base/file_system.hpp"
#include "core/task/task.hpp"

namespace krl::cli {
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
  Claim claim;
};

class AnswerEvaluation {
 public:
  // Opens the output by the call's options. Reads what its --output holds, and continues after the
  // last whole line; a file without such lines is refused, and stays as it is. `components`
  // outlives it.
  static Result<std::unique_ptr<AnswerEvaluation>> open(const CommandLine& line,
                                                        Components& components);

  // A second verdict on an answer of the same name is an error: the output holds each once.
  void judge_once() { once_ = true; }

  // Judges the answers of `next`, until it returns none; it is called by one thread at a time.
  // Prints a line for each and a summary, and returns the exit code.
  int run(const std::function<std::optional<AnswerToJudge>()>& next);

 private:
  AnswerEvaluation(KernelJudges judges, std::string options)
      : judges_(std::move(judges)), options_(std::move(options)) {}

  Status open_output(const std::string& file);
  std::string digest(const AnswerToJudge& answer) const;
  bool evaluate(const AnswerToJudge& answer);  // false: nothing more is judged
  void end(const Error& error);
  void count(const JudgedLine& line);
  void summarise() const;

  KernelJudges judges_;
  const std::string options_;                  // all that decides an evaluation, besides the answer
  std::map<std::string, JudgedLine> earlier_;  // keyed by digest
  std::unordered_set<std::string> names_;      // their names
  bool once_ = false;
  std::mutex next_mutex_;
  std::mutex mutex_;  // guards the members below
  std::optional<LineFile> output_;
  std::map<std::string, std::size_t> verdicts_;
  std::vector<KernelBenchVerdict> kernelbench_;
  Claims claims_;
  std::size_t failed_ = 0;
  bool ended_ = false;
};

}  // namespace krl::cli
