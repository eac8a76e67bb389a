// A kernel's source as mutations see it: tokens with their places in bytes, operators in one piece,
// brackets in pairs. Comments, directives and lines of the preprocessor have no tokens. Immutable.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <kernelrl/cuda_source.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace krl::service {

struct CodeToken {
  SourceToken::Kind kind = SourceToken::kPunctuation;
  std::string text;  // spelled as in the source
  std::size_t offset = 0;
  std::uint32_t line = 1;

  std::size_t end() const { return offset + text.size(); }
  bool is(std::string_view spelling) const {
    return text == spelling && kind != SourceToken::kLiteral;
  }
  bool is_any(std::initializer_list<std::string_view> spellings) const;
  bool is_name() const { return kind == SourceToken::kIdentifier; }
};

class CodeText {
 public:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  explicit CodeText(std::string source);

  const std::string& source() const { return source_; }
  const ScannedSource& scanned() const { return scanned_; }
  const std::vector<CodeToken>& tokens() const { return tokens_; }
  std::size_t size() const { return tokens_.size(); }
  // An empty token beyond either end.
  const CodeToken& at(std::size_t index) const;
  // The bracket that closes or opens the one at `index`; kNone if it is no bracket, or has none.
  std::size_t partner(std::size_t index) const { return partners_[index]; }
  // The source from the first byte of one token to the last of another.
  std::string_view text_of(std::size_t first, std::size_t last) const;

  // True if the token at `index` is an operator with a value on either side, such as the `*` of a
  // product, not that of a pointer or the `<` of a template.
  bool is_binary(std::size_t index) const;
  // Returns the last token of the operand that begins at `index`: a name or number with its calls,
  // subscripts and members, or a bracketed expression; kNone if there is none.
  std::size_t operand_end(std::size_t index) const;
  // Returns the first token of the operand that ends at `index`; kNone if there is none.
  std::size_t operand_begin(std::size_t index) const;
  // The first token from `index` on that is one of `stops` outside of the brackets that open after
  // it; kNone if a bracket closes or the text ends before.
  std::size_t find_outside(std::size_t index, std::initializer_list<std::string_view> stops) const;
  // True if a statement may begin at `index`.
  bool begins_statement(std::size_t index) const;

 private:
  void read_tokens();
  void join_operators();
  void pair_brackets();
  void mark_templates();

  std::string source_;
  ScannedSource scanned_;
  std::vector<CodeToken> tokens_;
  std::vector<std::size_t> partners_;
  std::vector<bool> in_template_;  // arguments of templates and named casts
};

// True if the word is a type of C++ or CUDA, judging by its spelling.
bool is_type_name(std::string_view word);

}  // namespace krl::service
