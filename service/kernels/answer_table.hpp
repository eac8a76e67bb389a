// The answers in a table of other projects' records (docs/records.md): a Parquet file or JSON
// lines, read by the dataset `records`. One thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/log.hpp"
#include "core/plugin/dataset.hpp"
#include "core/plugin/registry.hpp"
#include "service/kernels/answer_evaluation.hpp"

namespace krl::service {

class AnswerTable {
 public:
  using Warn = std::function<void(const std::string& text)>;

  // True if the file is a table, by its name.
  static bool is_table(const std::string& file);

  // Opens the rows for which the conditions hold. `warn` hears of what cannot be read, here and in
  // next(). `tasks` and `registry` outlive the result.
  static Result<std::unique_ptr<AnswerTable>> open(const std::string& file,
                                                   const std::vector<std::string>& where,
                                                   const std::vector<Task>& tasks,
                                                   const Registry& registry, Warn warn);

  // The next row that is an answer to one of the tasks; none after the last.
  std::optional<AnswerToJudge> next();

  // Warns of how many rows were left out, or have claims that cannot be read, if only the first
  // ones were named.
  void end_warnings() const;

 private:
  // Warnings of one kind about rows; only the first ones are given.
  struct Warnings {
    std::size_t count = 0;

    void add(const std::string& text, const Warn& warn);
    void end(const std::string& what, const Warn& warn) const;
  };

  AnswerTable(const std::vector<Task>& tasks, Warn warn);

  void leave_out(const std::string& name, const std::string& why);
  Claim read_claim(const std::string& name, const nlohmann::ordered_json& json);

  const Warn warn_;
  const CallScope::Log log_;
  const CallScope scope_;
  std::optional<Dataset> dataset_;
  std::uint64_t size_ = 0, at_ = 0;
  std::unordered_map<std::string, const Task*> tasks_;
  Warnings left_out_, unread_claims_;
};

}  // namespace krl::service
