// A split pattern of a tokenizer: a regular expression that cuts a text into pieces.
//
// Tokenizer files are written for Oniguruma; here PCRE2 runs them. Syntax with the same meaning is
// passed on, syntax with a different meaning is translated, and anything else is refused.
// Immutable, hence thread-safe.
#pragma once

#include <memory>
#include <string>
#include <string_view>

struct pcre2_real_code_8;
struct pcre2_real_match_context_8;
struct pcre2_real_match_data_8;
struct pcre2_real_jit_stack_8;

namespace krl::policies {

// `pattern` in PCRE2's syntax, matching what Oniguruma matches. Throws krl::Failure
// (KRL_INVALID_ARGUMENT) that names the first construct that is not among those understood:
// literals, classes, \s \S \r \n \t, \p and \P of a general category, (?i:…) (?:…) (?=…) (?!…) (…),
// | and the quantifiers.
std::string translate_pattern(std::string_view pattern);

// Returns the class of the characters that the `tokenizers` library's Digits takes for digits, in
// PCRE2's syntax.
std::string digit_class();

class SplitPattern {
 public:
  // Memory that matching needs: one for each thread that matches. For any pattern.
  class Workspace {
   public:
    Workspace();

   private:
    friend class SplitPattern;
    struct Free {
      void operator()(pcre2_real_match_data_8* data) const;
      void operator()(pcre2_real_match_context_8* context) const;
      void operator()(pcre2_real_jit_stack_8* stack) const;
    };
    std::unique_ptr<pcre2_real_jit_stack_8, Free> stack_;
    std::unique_ptr<pcre2_real_match_context_8, Free> context_;
    std::unique_ptr<pcre2_real_match_data_8, Free> match_;
  };

  // Compiles a pattern in PCRE2's syntax. Throws krl::Failure (KRL_INVALID_ARGUMENT) if PCRE2
  // refuses it, or if it matches the empty text.
  explicit SplitPattern(const std::string& pattern);

  // Calls `visit` with each match and with the text before, between and after them, in order, none
  // of it empty. REQUIRES: valid UTF-8. Throws krl::Failure (KRL_INVALID_ARGUMENT) if a match takes
  // more steps than PCRE2 allows.
  template <class Visit>
  void for_each_piece(std::string_view text, Workspace& workspace, Visit&& visit) const {
    std::size_t done = 0;
    while (done < text.size()) {
      const Match match = next(text, done, workspace);
      if (match.begin > done) visit(text.substr(done, match.begin - done));
      if (match.end > match.begin) visit(text.substr(match.begin, match.end - match.begin));
      done = match.end;
    }
  }

 private:
  struct Match {
    std::size_t begin, end;
  };
  struct Free {
    void operator()(pcre2_real_code_8* code) const;
  };

  // Returns the first match at or after `from`; the empty one at the end if there is none.
  Match next(std::string_view text, std::size_t from, Workspace& workspace) const;

  std::unique_ptr<pcre2_real_code_8, Free> code_;
};

}  // namespace krl::policies
