// Texts and conditions over the columns of a record, as plans write them: "{{code}}",
// "speedup >= 1.5".
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace krl::records {

// Returns the value at a dotted path, "messages.0.content"; null if there is none. A column whose
// own name has dots is found too.
const nlohmann::json* value_at(const nlohmann::json& record, std::string_view path);

// The first component of a path: the column that has to be read for it.
std::string column_of(std::string_view path);

// A text in which {{path}} is replaced by a value of the record: strings as they are, other values
// as JSON.
class RecordText {
 public:
  // Throws Failure with KRL_INVALID_ARGUMENT: "{{" without "}}".
  explicit RecordText(std::string_view text);

  const std::vector<std::string>& paths() const { return paths_; }

  // Empty if the record lacks one of the values, or has null there; `missing` is then its path.
  std::optional<std::string> of(const nlohmann::json& record, std::string* missing) const;

 private:
  std::vector<std::string> texts_;  // one more than paths: before, between and after them
  std::vector<std::string> paths_;
};

// "Correct", "not Correct", "speedup >= 1.5", "level != 'level_1'".
class Condition {
 public:
  // Throws Failure with KRL_INVALID_ARGUMENT.
  explicit Condition(std::string_view text);

  const std::string& path() const { return path_; }

  // A record without the value, or with one of another type, does not hold. Texts that are numbers
  // compare as numbers with numbers. A value alone holds if it is true, or neither zero nor empty,
  // whether it is a value or a text: "", "0", "False", "false", "None" and "null" do not hold.
  bool holds(const nlohmann::json& record) const;

 private:
  enum class Relation { kTrue, kFalse, kEqual, kUnequal, kLess, kAtMost, kMore, kAtLeast };

  std::string path_;
  Relation relation_ = Relation::kTrue;
  nlohmann::json value_;
};

}  // namespace krl::records
