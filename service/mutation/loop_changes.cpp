// Loops that end too early, begin too late or take steps that are too long.
#include "service/mutation/change.hpp"

namespace krl::service {
namespace {

// `for (start; condition; step) body`, by the indices of its tokens.
struct Loop {
  std::size_t open = 0, first = 0, second = 0, close = 0;  // the brackets and the semicolons
};

std::size_t semicolon(const CodeText& code, std::size_t index) {
  return code.find_outside(index, {";"});
}

bool read_loop(const CodeText& code, std::size_t index, Loop& loop) {
  if (!code.at(index).is("for") || !code.at(index + 1).is("(")) return false;
  loop.open = index + 1;
  loop.close = code.partner(loop.open);
  if (loop.close == CodeText::kNone) return false;
  loop.first = semicolon(code, loop.open + 1);
  if (loop.first == CodeText::kNone || loop.first > loop.close) return false;
  loop.second = semicolon(code, loop.first + 1);
  return loop.second != CodeText::kNone && loop.second < loop.close;
}

// Ends a loop whose condition contains a count at some number as well.
void cap(const CodeText& code, const Loop& loop, Changes& changes) {
  const CodeToken& variable = code.at(loop.first + 1);
  const bool counts = variable.is_name() && code.at(loop.first + 2).is_any({"<", "<="});
  if (!counts) return;
  const std::size_t end = code.at(loop.second).offset;
  for (const char* most : {"32", "256", "1000"})
    changes.push_back({"loop_capped", end, 0, " && " + variable.text + " < " + most});
}

void run_once(const CodeText& code, const Loop& loop, Changes& changes) {
  const std::size_t body = loop.close + 1;
  if (!code.at(body).is("{") || code.partner(body) == CodeText::kNone) return;
  changes.push_back({"loop_ends_early", code.at(code.partner(body)).offset, 0, "break; "});
}

void change_step(const CodeText& code, const Loop& loop, Changes& changes) {
  for (std::size_t i = loop.second + 1; i < loop.close; ++i) {
    const CodeToken& token = code.at(i);
    if (token.is("++")) {
      const bool before = code.at(i + 1).is_name();
      const std::string& name = code.at(before ? i + 1 : i - 1).text;
      const std::size_t begin = before ? token.offset : code.at(i - 1).offset;
      changes.push_back({"loop_step", begin, name.size() + 2, name + " += 2"});
    }
    if (token.is("+=")) changes.push_back({"loop_step", token.end(), 0, " 1 +"});
    if (token.is("+=")) changes.push_back({"loop_step", token.end(), 0, " 2 *"});
  }
}

// `int i = start` as `int i = 1 + start`.
void begin_late(const CodeText& code, const Loop& loop, Changes& changes) {
  for (std::size_t i = loop.open + 1; i < loop.first; ++i) {
    if (code.at(i).is("=")) changes.push_back({"loop_begins_late", code.at(i).end(), 0, " 1 +"});
  }
}

}  // namespace

void collect_loops(const CodeText& code, Changes& changes) {
  for (std::size_t i = 0; i < code.size(); ++i) {
    Loop loop;
    if (!read_loop(code, i, loop)) continue;
    cap(code, loop, changes);
    run_once(code, loop, changes);
    change_step(code, loop, changes);
    begin_late(code, loop, changes);
  }
}

}  // namespace krl::service
