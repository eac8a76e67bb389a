// Statements and initial values that are left out, and barriers and fences out of their place.
#include "service/mutation/change.hpp"

namespace krl::service {
namespace {

bool is_barrier(const CodeToken& token) {
  return token.is_any(
      {"__syncthreads", "__syncwarp", "__pipeline_wait_prior", "__pipeline_commit", "__nanosleep"});
}
bool is_fence(const CodeToken& token) {
  return token.is_any({"__threadfence", "__threadfence_block", "__threadfence_system"});
}

std::string_view kind_of_drop(const CodeText& code, std::size_t index) {
  const CodeToken& token = code.at(index);
  if (is_barrier(token)) return "barrier_dropped";
  if (is_fence(token)) return "fence_dropped";
  return token.is_any({"return", "break", "continue"}) ? "exit_dropped" : "statement_dropped";
}

bool is_declaration(const CodeText& code, std::size_t index) {
  const CodeToken& token = code.at(index);
  return is_type_name(token.text) ||
         token.is_any({"constexpr", "static", "extern", "using", "__shared__", "__constant__",
                       "namespace", "struct", "typedef", "template", "enum"}) ||
         (token.is_name() && code.at(index + 1).is_name() && !token.is_any({"return", "asm"}));
}

bool is_control(const CodeToken& token) {
  return token.is_any({"if", "for", "while", "do", "else", "switch", "case", "{", "}", ";"});
}

void drop_statement(const CodeText& code, std::size_t index, Changes& changes) {
  if (!code.begins_statement(index) || is_control(code.at(index)) || is_declaration(code, index))
    return;
  const std::size_t end = code.find_outside(index, {";"});
  if (end == CodeText::kNone) return;
  const std::size_t begin = code.at(index).offset;
  changes.push_back({kind_of_drop(code, index), begin, code.at(end).end() - begin, ";"});
}

// `int n = 0;` as `int n;`, and `part[4] = {};` as `part[4];`.
void drop_initial_value(const CodeText& code, std::size_t index, Changes& changes) {
  if (!code.at(index).is("=")) return;
  std::size_t name = index - 1;
  if (code.at(name).is("]")) name = code.partner(name) - 1;
  const bool declared = name > 0 && name < index && code.at(name).is_name() &&
                        (is_type_name(code.at(name - 1).text) || code.at(name - 1).is(","));
  if (!declared) return;
  const std::size_t end = code.find_outside(index + 1, {";", ","});
  if (end == CodeText::kNone) return;
  const std::size_t begin = code.at(index).offset;
  changes.push_back({"initial_value_dropped", begin, code.at(end).offset - begin, ""});
}

// Behind the statement that follows it, and before the one that it follows.
void move_barrier(const CodeText& code, std::size_t index, Changes& changes) {
  const CodeToken& token = code.at(index);
  if ((!is_barrier(token) && !is_fence(token)) || !code.begins_statement(index)) return;
  const std::string_view kind = is_barrier(token) ? "barrier_moved" : "fence_moved";
  const std::size_t end = code.find_outside(index, {";"});
  if (end == CodeText::kNone) return;
  const std::string statement(code.text_of(index, end));
  const std::size_t next_end = code.find_outside(end + 1, {";"});
  if (next_end != CodeText::kNone && !is_control(code.at(end + 1))) {
    const std::size_t begin = token.offset;
    changes.push_back({kind, begin, code.at(next_end).end() - begin,
                       std::string(code.text_of(end + 1, next_end)) + " " + statement});
  }
  std::size_t before = index;
  while (before > 1 && !code.begins_statement(before - 1)) --before;
  if (before <= 1 || !code.at(index - 1).is(";") || is_control(code.at(before - 1))) return;
  const std::size_t begin = code.at(before - 1).offset;
  changes.push_back({kind, begin, code.at(end).end() - begin,
                     statement + " " + std::string(code.text_of(before - 1, index - 1))});
}

}  // namespace

void collect_statements(const CodeText& code, Changes& changes) {
  for (std::size_t i = 1; i < code.size(); ++i) {
    drop_statement(code, i, changes);
    drop_initial_value(code, i, changes);
    move_barrier(code, i, changes);
  }
}

}  // namespace krl::service
