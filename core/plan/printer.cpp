#include "core/plan/printer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/plan/node.hpp"
#include "core/plan/schema.hpp"

namespace krl::core {
namespace {

constexpr std::size_t kCommentColumn = 48;

// JSON's strings are TOML's, except for one character that TOML requires to be escaped.
std::string toml_string(const std::string& text) {
  using nlohmann::json;
  std::string out;
  for (const char c : json(text).dump(-1, ' ', false, json::error_handler_t::replace)) {
    if (c == '\x7f') {
      out += "\\u007f";
    } else {
      out += c;
    }
  }
  return out;
}

std::string key_text(const std::string& key) { return is_bare_key(key) ? key : toml_string(key); }

std::string number_text(double number) {
  const std::string text = fmt::format("{}", number);
  const bool whole = text.find_first_of(".en") == std::string::npos;
  return whole ? text + ".0" : text;
}

bool is_stage_table(const std::string& key) {
  const auto& tables = plan_schema();
  return std::ranges::any_of(
      tables, [&](const TableRules& table) { return table.in_stage && table.name == key; });
}

class Printer {
 public:
  explicit Printer(ShowOrigins origins) : origins_(origins) {}

  // A table or list of tables under a header; stages hold tables of their own.
  void section(const std::string& path, const Node& node) {
    if (node.is_array()) {
      for (const Node& element : node.elements()) {
        out_ += (out_.empty() ? "[[" : "\n[[") + path + "]]\n";
        body(element, path, path == "stage");
      }
      return;
    }
    out_ += (out_.empty() ? "[" : "\n[") + path + "]\n";
    body(node, path, false);
  }

  std::string text() && { return std::move(out_); }

 private:
  void body(const Node& table, const std::string& path, bool is_stage) {
    for (const Entry& entry : table.entries()) {
      if (!is_stage || !is_stage_table(entry.key)) assignment(key_text(entry.key), entry.value);
    }
    if (!is_stage) return;
    for (const Entry& entry : table.entries()) {
      if (is_stage_table(entry.key)) section(path + "." + entry.key, entry.value);
    }
  }

  void assignment(const std::string& key, const Node& node) {
    if (node.is_table() && !node.entries().empty()) {
      for (const Entry& entry : node.entries()) {
        assignment(key + "." + key_text(entry.key), entry.value);
      }
      return;
    }
    const std::string line = key + " = " + toml_text(node);
    out_ += line;
    if (origins_ == ShowOrigins::kYes) {
      out_ += std::string(line.size() < kCommentColumn ? kCommentColumn - line.size() : 1, ' ');
      out_ += "# " + node.origin.text();
    }
    out_ += "\n";
  }

  ShowOrigins origins_;
  std::string out_;
};

}  // namespace

std::string toml_text(const Node& node) {
  std::string out;
  if (const auto* text = node.text()) return toml_string(*text);
  if (const auto* flag = std::get_if<bool>(&node.value)) return *flag ? "true" : "false";
  if (const auto* integer = std::get_if<std::int64_t>(&node.value)) return std::to_string(*integer);
  if (const auto* real = std::get_if<double>(&node.value)) return number_text(*real);
  if (node.is_array()) {
    for (const Node& element : node.elements())
      out += (out.empty() ? "" : ", ") + toml_text(element);
    return "[" + out + "]";
  }
  for (const Entry& entry : node.entries()) {
    out += (out.empty() ? " " : ", ") + key_text(entry.key) + " = " + toml_text(entry.value);
  }
  return "{" + out + (out.empty() ? "}" : " }");
}

std::string print_plan(const Plan& plan, ShowOrigins origins) {
  Printer printer(origins);
  for (const TableRules& rules : plan_schema()) {
    if (const Node* node = plan.document->find(rules.name)) printer.section(rules.name, *node);
  }
  return std::move(printer).text();
}

}  // namespace krl::core
