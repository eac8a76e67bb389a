// Translates Oniguruma's regular expressions to PCRE2's.
//
// The two differ in the parts that this translates: \s, which in PCRE2 takes U+180E too, and the
// Unicode version of categories; and in the parts that this refuses: ^, $, ., \b, nested classes,
// {n}? and much else that no tokenizer needs.
#include <kernelrl/values.hpp>

#include <algorithm>
#include <array>
#include <cstdio>

#include "plugins/policies/tokenizer/split_pattern.hpp"

namespace krl::policies {
namespace {

// Characters that PCRE2's Unicode may not know; if it does, naming them does no harm.
struct NewerCharacters {
  char32_t first, last;
  std::string_view category;
};
constexpr NewerCharacters kNewerCharacters[] = {
#include "plugins/policies/tokenizer/newer_characters.inc"
};

constexpr std::string_view kCategories[] = {"L",  "Lu", "Ll", "Lt", "Lm", "Lo", "M",  "Mn", "Mc",
                                            "Me", "N",  "Nd", "Nl", "No", "P",  "Pc", "Pd", "Ps",
                                            "Pe", "Pi", "Pf", "Po", "S",  "Sm", "Sc", "Sk", "So"};

// The newer characters whose category begins with `category`, as members of a class.
std::string newer_members(std::string_view category) {
  std::string members;
  for (const NewerCharacters& range : kNewerCharacters) {
    if (!range.category.starts_with(category)) continue;
    char text[40];
    std::snprintf(text, sizeof text, "\\x{%X}-\\x{%X}", static_cast<unsigned>(range.first),
                  static_cast<unsigned>(range.last));
    members += text;
  }
  return members;
}

std::string category_members(std::string_view category) {
  return "\\p{" + std::string(category) + "}" + newer_members(category);
}

class Translator {
 public:
  explicit Translator(std::string_view pattern) : rest_(pattern), pattern_(pattern) {}

  std::string run() {
    while (!rest_.empty()) {
      if (rest_.front() == '[') {
        translate_class();
      } else if (rest_.front() == '\\') {
        translate_escape(/*in_class=*/false);
      } else {
        translate_plain();
      }
    }
    return std::move(out_);
  }

 private:
  [[noreturn]] void refuse(std::string_view construct) const {
    invalid_argument("the construct '" + std::string(construct) + "' at byte " +
                     std::to_string(pattern_.size() - rest_.size()) + " is not supported");
  }

  void copy(std::size_t size) {
    out_ += rest_.substr(0, size);
    rest_.remove_prefix(size);
  }

  void translate_plain() {
    const char c = rest_.front();
    if (c == '(') return translate_group();
    if (c == '{') return translate_count();
    if (c == '^' || c == '$' || c == '.' || c == '}' || c == ']') refuse(rest_.substr(0, 1));
    copy(1);
  }

  void translate_group() {
    if (!rest_.starts_with("(?")) return copy(1);
    for (const std::string_view open : {"(?i:", "(?:", "(?=", "(?!"}) {
      if (rest_.starts_with(open)) return copy(open.size());
    }
    refuse(rest_.substr(0, 4));
  }

  // {n}, {n,} and {n,m}; what may follow to make it lazy or possessive differs.
  void translate_count() {
    const std::size_t close = rest_.find('}');
    if (close == std::string_view::npos) refuse("{");
    const std::string_view count = rest_.substr(1, close - 1);
    const bool digits = count.find_first_not_of("0123456789,") == std::string_view::npos;
    const bool one_comma = std::count(count.begin(), count.end(), ',') <= 1;
    if (count.empty() || count.front() == ',' || !digits || !one_comma) {
      refuse(rest_.substr(0, close + 1));
    }
    copy(close + 1);
    if (!rest_.empty() && (rest_.front() == '?' || rest_.front() == '+')) {
      refuse("}" + std::string(rest_.substr(0, 1)));
    }
  }

  void translate_class() {
    copy(rest_.starts_with("[^") ? 2 : 1);
    if (rest_.starts_with("]")) refuse("[]");
    while (!rest_.empty() && rest_.front() != ']') {
      if (rest_.front() == '[' || rest_.starts_with("&&")) refuse(rest_.substr(0, 2));
      if (rest_.front() == '\\') {
        translate_escape(/*in_class=*/true);
      } else {
        copy(1);
      }
    }
    if (rest_.empty()) refuse("[");
    copy(1);
  }

  void translate_escape(bool in_class) {
    if (rest_.size() < 2) refuse("\\");
    const char c = rest_[1];
    if (c == 'p' || c == 'P') return translate_category(in_class);
    if (c == 's' || c == 'S') {
      out_ += c == 's' ? "\\p{White_Space}" : "\\P{White_Space}";
      rest_.remove_prefix(2);
      return;
    }
    const bool punctuation =
        c > ' ' && c < 0x7F && std::isalnum(static_cast<unsigned char>(c)) == 0;
    if (c != 'r' && c != 'n' && c != 't' && !punctuation) refuse(rest_.substr(0, 2));
    copy(2);
  }

  void translate_category(bool in_class) {
    const std::size_t close = rest_.find('}');
    if (close == std::string_view::npos || rest_[2] != '{') refuse(rest_.substr(0, 2));
    const std::string_view construct = rest_.substr(0, close + 1);
    const std::string_view category = rest_.substr(3, close - 3);
    const bool negated = rest_[1] == 'P';
    const bool known = std::find(std::begin(kCategories), std::end(kCategories), category) !=
                       std::end(kCategories);
    if (!known || (negated && in_class)) refuse(construct);
    const std::string members = category_members(category);
    out_ += in_class ? members : (negated ? "[^" : "[") + members + "]";
    rest_.remove_prefix(construct.size());
  }

  std::string_view rest_;
  const std::string_view pattern_;
  std::string out_;
};

}  // namespace

std::string translate_pattern(std::string_view pattern) { return Translator(pattern).run(); }

std::string digit_class() { return "[" + category_members("N") + newer_members("digit") + "]"; }

}  // namespace krl::policies
