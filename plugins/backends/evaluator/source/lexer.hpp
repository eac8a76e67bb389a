// C++ source as preprocessing tokens, as g++ and nvcc see them: spliced lines joined, comments
// dropped, strings and numbers whole, digraphs spelled out. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace krl {

struct Token {
  enum Kind : std::uint8_t { kName, kNumber, kText, kPunctuation } kind = kPunctuation;
  std::string text;  // of a kText with its quotes (of a raw string with all of its lines); of a
                     // digraph what it stands for
  std::uint32_t line = 0;  // from 1, in the source as it stands
  std::uint32_t column = 0;
  bool starts_line = false;  // the first token of its line, splices removed

  bool is(std::string_view spelling) const { return text == spelling && kind != kText; }
};

// What no candidate needs and no two compilers read alike.
struct LexicalProblem {
  std::uint32_t line = 0, column = 0;
  const char* message = nullptr;
};

struct LexedSource {
  std::vector<Token> tokens;
  std::vector<LexicalProblem>
      problems;  // spliced raw strings, trigraphs, control characters, \u names
};

LexedSource lex(std::string_view source);

}  // namespace krl
