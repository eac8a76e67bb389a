#include "plugins/datasets/records/python_literal.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <limits>
#include <string>

namespace krl::records {
namespace {

struct NoLiteral {};

void append_utf8(std::uint32_t c, std::string& out) {
  const auto put = [&out](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xc0 | c >> 6), put(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    put(0xe0 | c >> 12), put(0x80 | (c >> 6 & 0x3f)), put(0x80 | (c & 0x3f));
  } else {
    put(0xf0 | c >> 18), put(0x80 | (c >> 12 & 0x3f)), put(0x80 | (c >> 6 & 0x3f)),
        put(0x80 | (c & 0x3f));
  }
}

// Throws NoLiteral.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  nlohmann::json whole() {
    nlohmann::json value = this->value(0);
    skip_space();
    if (!rest_.empty()) throw NoLiteral();
    return value;
  }

 private:
  static constexpr int kDeepest = 64;

  void skip_space() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size()));
  }
  bool take(char c) {
    skip_space();
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!take(c)) throw NoLiteral();
  }
  bool take_word(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    const char after = rest_.size() > word.size() ? rest_[word.size()] : ' ';
    if (after == '_' || std::isalnum(static_cast<unsigned char>(after)) != 0) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  nlohmann::json value(int depth) {
    if (depth > kDeepest) throw NoLiteral();
    skip_space();
    if (rest_.empty()) throw NoLiteral();
    const char first = rest_.front();
    if (first == '{') return dict(depth);
    if (first == '[') return sequence('[', ']', depth);
    if (first == '(') return in_parentheses(depth);
    if (starts_string()) return strings();
    if (take_word("True")) return true;
    if (take_word("False")) return false;
    if (take_word("None")) return nullptr;
    return number();
  }

  nlohmann::json dict(int depth) {
    expect('{');
    nlohmann::json all = nlohmann::json::object();
    while (!take('}')) {
      const nlohmann::json key = value(depth + 1);
      expect(':');
      all[key.is_string() ? key.get<std::string>() : key.dump()] = value(depth + 1);
      if (!take(',')) {
        expect('}');
        break;
      }
    }
    return all;
  }

  nlohmann::json sequence(char open, char close, int depth) {
    expect(open);
    nlohmann::json all = nlohmann::json::array();
    while (!take(close)) {
      all.push_back(value(depth + 1));
      comma_ = take(',');
      if (!comma_) {
        expect(close);
        break;
      }
    }
    return all;
  }

  // A tuple, or a value in parentheses.
  nlohmann::json in_parentheses(int depth) {
    comma_ = false;
    nlohmann::json all = sequence('(', ')', depth);
    return all.size() == 1 && !comma_ ? nlohmann::json(all[0]) : all;
  }

  bool starts_string() const {
    std::string_view rest = rest_;
    while (!rest.empty() && std::string_view("rRuU").find(rest.front()) != rest.npos)
      rest.remove_prefix(1);
    return rest.starts_with('\'') || rest.starts_with('"');
  }

  // Strings that follow one another are one.
  std::string strings() {
    std::string all;
    for (; starts_string(); skip_space()) string(all);
    return all;
  }

  void string(std::string& out) {
    bool raw = false;
    for (; rest_.front() != '\'' && rest_.front() != '"'; rest_.remove_prefix(1))
      raw |= rest_.front() == 'r' || rest_.front() == 'R';
    const std::string quote(rest_.starts_with("'''") || rest_.starts_with("\"\"\"") ? 3 : 1,
                            rest_.front());
    rest_.remove_prefix(quote.size());
    while (!rest_.starts_with(quote)) {
      if (rest_.empty()) throw NoLiteral();
      const char c = rest_.front();
      rest_.remove_prefix(1);
      if (c != '\\') {
        out += c;
      } else if (raw) {
        out += c;
        out += next();
      } else {
        escape(out);
      }
    }
    rest_.remove_prefix(quote.size());
  }

  char next() {
    if (rest_.empty()) throw NoLiteral();
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }

  void escape(std::string& out) {
    static constexpr std::string_view kNames = "abfnrtv\\'\"", kValues = "\a\b\f\n\r\t\v\\'\"";
    const char c = next();
    if (const std::size_t at = kNames.find(c); at != kNames.npos) {
      out += kValues[at];
    } else if (c == 'x' || c == 'u' || c == 'U') {
      append_utf8(digits(c == 'x' ? 2 : c == 'u' ? 4 : 8, 16), out);
    } else if (c >= '0' && c <= '7') {
      std::uint32_t code = static_cast<std::uint32_t>(c - '0');
      for (int i = 0; i < 2 && !rest_.empty() && rest_.front() >= '0' && rest_.front() <= '7'; ++i)
        code = code * 8 + static_cast<std::uint32_t>(next() - '0');
      append_utf8(code, out);
    } else if (c != '\n') {  // a backslash before it joins lines
      out += '\\';
      out += c;
    }
  }

  std::uint32_t digits(std::size_t count, int base) {
    std::uint32_t code = 0;
    if (rest_.size() < count) throw NoLiteral();
    const char* const end = rest_.data() + count;
    if (std::from_chars(rest_.data(), end, code, base).ptr != end || code > 0x10ffff)
      throw NoLiteral();
    rest_.remove_prefix(count);
    return code;
  }

  nlohmann::json number() {
    const bool negative = rest_.starts_with('-');
    if (negative || rest_.starts_with('+')) rest_.remove_prefix(1);
    if (take_word("nan")) return std::numeric_limits<double>::quiet_NaN();
    if (take_word("inf")) {
      const double infinity = std::numeric_limits<double>::infinity();
      return negative ? -infinity : infinity;
    }
    const std::size_t size = std::min(rest_.find_first_not_of("0123456789.eE_+-"), rest_.size());
    std::string digits;
    for (const char c : rest_.substr(0, size)) {
      if (c != '_') digits += c;
    }
    rest_.remove_prefix(size);
    if (digits.empty() || digits.front() == '+' || digits.front() == '-') throw NoLiteral();
    const char* const end = digits.data() + digits.size();
    std::int64_t integer = 0;
    if (const auto read = std::from_chars(digits.data(), end, integer);
        read.ec == std::errc() && read.ptr == end) {
      return negative ? -integer : integer;
    }
    double real = 0;
    if (const auto read = std::from_chars(digits.data(), end, real);
        read.ec != std::errc() || read.ptr != end) {
      throw NoLiteral();
    }
    return negative ? -real : real;
  }

  std::string_view rest_;
  bool comma_ = false;  // a comma followed the last element of a sequence
};

}  // namespace

std::optional<nlohmann::json> read_python_literal(std::string_view text) {
  try {
    return Reader(text).whole();
  } catch (const NoLiteral&) {
    return std::nullopt;
  }
}

}  // namespace krl::records
