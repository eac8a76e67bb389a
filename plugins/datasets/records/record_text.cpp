#include "plugins/datasets/records/record_text.hpp"

#include <charconv>
#include <kernelrl/values.hpp>
#include <utility>

#include "plugins/datasets/records/python_literal.hpp"

namespace krl::records {
namespace {

std::string_view trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

std::optional<double> number_of(const nlohmann::json& value) {
  if (value.is_number()) return value.get<double>();
  if (!value.is_string()) return std::nullopt;
  const auto& text = value.get_ref<const std::string&>();
  double number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size())
    return std::nullopt;
  return number;
}

// CSV files and columns of Python objects hold booleans and numbers as texts.
bool is_true(const nlohmann::json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (const auto number = number_of(value)) return *number != 0;
  for (const char* word : {"", "False", "false", "None", "null"})
    if (value == word) return false;
  return value.is_string() || !value.empty();
}

}  // namespace

const nlohmann::json* value_at(const nlohmann::json& record, std::string_view path) {
  if (record.is_object()) {
    if (const auto whole = record.find(path); whole != record.end()) return &*whole;
  }
  const std::size_t dot = path.find('.');
  const std::string_view first = path.substr(0, dot);
  const nlohmann::json* inner = nullptr;
  if (record.is_object()) {
    if (const auto found = record.find(first); found != record.end()) inner = &*found;
  } else if (record.is_array()) {
    std::size_t index = record.size();
    std::from_chars(first.data(), first.data() + first.size(), index);
    if (index < record.size()) inner = &record[index];
  }
  if (inner == nullptr || dot == path.npos) return inner;
  return value_at(*inner, path.substr(dot + 1));
}

std::string column_of(std::string_view path) { return std::string(path.substr(0, path.find('.'))); }

RecordText::RecordText(std::string_view text) {
  std::size_t at = 0;
  for (std::size_t open = text.find("{{"); open != text.npos; open = text.find("{{", at)) {
    const std::size_t close = text.find("}}", open);
    if (close == text.npos) {
      throw Failure(KRL_INVALID_ARGUMENT, "'{{' without '}}' in \"" + std::string(text) + "\"");
    }
    texts_.emplace_back(text.substr(at, open - at));
    paths_.emplace_back(trimmed(text.substr(open + 2, close - open - 2)));
    at = close + 2;
  }
  texts_.emplace_back(text.substr(at));
}

std::optional<std::string> RecordText::of(const nlohmann::json& record,
                                          std::string* missing) const {
  std::string text = texts_.front();
  for (std::size_t i = 0; i < paths_.size(); ++i) {
    const nlohmann::json* const value = value_at(record, paths_[i]);
    if (value == nullptr || value->is_null()) {
      *missing = paths_[i];
      return std::nullopt;
    }
    text += value->is_string() ? value->get_ref<const std::string&>() : value->dump();
    text += texts_[i + 1];
  }
  return text;
}

Condition::Condition(std::string_view text) {
  static constexpr std::pair<std::string_view, Relation> kRelations[] = {
      {"==", Relation::kEqual},   {"!=", Relation::kUnequal}, {"<=", Relation::kAtMost},
      {">=", Relation::kAtLeast}, {"<", Relation::kLess},     {">", Relation::kMore}};
  const auto wrong = [text](const std::string& why) {
    return Failure(
        KRL_INVALID_ARGUMENT,
        "condition \"" + std::string(text) + "\": " + why +
            "; write a column, \"not COLUMN\", or a comparison such as \"speedup >= 1.5\"");
  };
  const std::size_t at = text.find_first_of("=!<>");
  path_ = trimmed(text.substr(0, at));
  if (at == text.npos && path_.starts_with("not ")) {
    relation_ = Relation::kFalse;
    path_ = trimmed(std::string_view(path_).substr(4));
  }
  if (path_.empty() || path_ == "not") throw wrong("there is no column in it");
  if (at == text.npos) return;
  const std::string_view rest = text.substr(at);
  for (const auto& [sign, relation] : kRelations) {
    if (!rest.starts_with(sign)) continue;
    const auto value = read_python_literal(rest.substr(sign.size()));
    if (!value || value->is_structured())
      throw wrong("what follows '" + std::string(sign) + "' is neither a number nor a quoted text");
    relation_ = relation;
    value_ = *value;
    return;
  }
  throw wrong("unknown comparison");
}

bool Condition::holds(const nlohmann::json& record) const {
  const nlohmann::json* const found = value_at(record, path_);
  if (relation_ == Relation::kFalse) return found == nullptr || !is_true(*found);
  if (found == nullptr || found->is_null()) return false;
  if (relation_ == Relation::kTrue) return is_true(*found);
  const auto compare = [this](const auto& a, const auto& b) {
    switch (relation_) {
      case Relation::kEqual:
        return a == b;
      case Relation::kUnequal:
        return a != b;
      case Relation::kLess:
        return a < b;
      case Relation::kAtMost:
        return a <= b;
      case Relation::kMore:
        return a > b;
      default:
        return a >= b;
    }
  };
  if (value_.is_number()) {
    const auto number = number_of(*found);
    return number && compare(*number, value_.get<double>());
  }
  if (found->type() != value_.type()) return false;
  if (value_.is_string())
    return compare(found->get_ref<const std::string&>(), value_.get_ref<const std::string&>());
  return compare(*found, value_);
}

}  // namespace krl::records
