// The grammar as far as it matters here (PTX ISA 9.0, chapter 4): a module is statements that end
// with ";" and heads that are followed by a block in braces. Blocks nest; those of functions hold
// instructions, "label: @guard opcode operands;", and those of variables hold numbers. Only the
// places of the source's lines, ".loc", end with their line.
#include "plugins/backends/cuda/ptx_reader.hpp"

#include <algorithm>
#include <cctype>

namespace krl {
namespace {

bool is_word_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '.' ||
         c == '%' || c == '@' || c == '!';
}

std::size_t word_end(std::string_view ptx, std::size_t at) {
  for (; at < ptx.size(); ++at) {
    if (ptx.substr(at, 2) == "::") {  // "ld.shared::cta.u32"
      ++at;
    } else if (!is_word_character(ptx[at])) {
      break;
    }
  }
  return at;
}

// Words, and every other character but blanks as a token of its own. Comments and texts in quotes
// are left out.
std::vector<std::string_view> tokens_of(std::string_view ptx) {
  std::vector<std::string_view> tokens;
  const auto skip_behind = [&](std::size_t from, std::string_view end) {
    const std::size_t at = ptx.find(end, from);
    return at == std::string_view::npos ? ptx.size() : at + end.size();
  };
  for (std::size_t i = 0; i < ptx.size();) {
    if (ptx.substr(i, 2) == "//") {
      i = skip_behind(i, "\n");
    } else if (ptx.substr(i, 2) == "/*") {
      i = skip_behind(i + 2, "*/");
    } else if (ptx[i] == '"') {
      i = skip_behind(i + 1, "\"");
    } else if (std::isspace(static_cast<unsigned char>(ptx[i])) != 0) {
      ++i;
    } else {
      const std::size_t end = std::max(word_end(ptx, i), i + 1);
      const std::string_view token = ptx.substr(i, end - i);
      if (token != ".loc") tokens.push_back(token);
      i = token == ".loc" ? skip_behind(end, "\n") : end;
    }
  }
  return tokens;
}

using Tokens = std::vector<std::string_view>;

// The index behind a list in parentheses, or `at` itself if there is none.
std::size_t behind_list(const Tokens& tokens, std::size_t at) {
  if (at >= tokens.size() || tokens[at] != "(") return at;
  while (at < tokens.size() && tokens[at] != ")") ++at;
  return at + 1;
}

class Reader {
 public:
  std::vector<PtxFunction> read(std::string_view ptx) {
    for (const std::string_view token : tokens_of(ptx)) {
      if (token == "{" && (!inside_function_ || statement_.empty())) {
        if (depth_++ == 0) open_block();
        statement_.clear();
      } else if (token == "}" && open_operands_ == 0) {
        depth_ = std::max(0, depth_ - 1);
        if (depth_ == 0) inside_function_ = false;
        statement_.clear();
      } else if (token == ";") {
        if (inside_function_) add_instruction();
        statement_.clear();
        open_operands_ = 0;
      } else if (token == ":") {  // of a label
        statement_.clear();
      } else {
        if (inside_function_ && token == "{") ++open_operands_;
        if (inside_function_ && token == "}") --open_operands_;
        statement_.push_back(token);
      }
    }
    return std::move(functions_);
  }

 private:
  // ".visible .entry NAME(…) .maxntid 256" or ".func (.param .b32 result) NAME(…)".
  void open_block() {
    const auto keyword = std::find_if(statement_.begin(), statement_.end(), [](auto word) {
      return word == ".entry" || word == ".func";
    });
    if (keyword == statement_.end()) return;
    const auto at = static_cast<std::size_t>(keyword - statement_.begin()) + 1;
    const std::size_t name = behind_list(statement_, at);
    if (name >= statement_.size()) return;
    functions_.push_back({std::string(statement_[name]), *keyword == ".entry", {}, {}});
    inside_function_ = true;
  }

  void add_instruction() {
    const std::size_t at = !statement_.empty() && statement_[0].starts_with('@') ? 1 : 0;
    if (at >= statement_.size() || statement_[at].starts_with('.')) return;  // a declaration
    const std::string_view opcode = statement_[at];
    functions_.back().opcodes.emplace_back(opcode);
    if (opcode == "call" || opcode.starts_with("call.")) add_call(at + 1);
  }

  // "call.uni (result), NAME, (arguments);"
  void add_call(std::size_t at) {
    at = behind_list(statement_, at);
    if (at < statement_.size() && statement_[at] == ",") ++at;
    if (at < statement_.size()) functions_.back().called.emplace_back(statement_[at]);
  }

  std::vector<PtxFunction> functions_;
  Tokens statement_;
  int depth_ = 0;          // of blocks
  int open_operands_ = 0;  // braces of a statement: "{%f1, %f2}"
  bool inside_function_ = false;
};

}  // namespace

std::vector<PtxFunction> read_ptx(std::string_view ptx) { return Reader().read(ptx); }

}  // namespace krl
