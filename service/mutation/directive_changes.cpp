// Launch directives with too few blocks or threads, or left out.
#include <cctype>

#include "service/mutation/change.hpp"

namespace krl::service {
namespace {

// A directive's text in the source.
struct Directive {
  std::size_t begin = 0, end = 0;
};

std::vector<Directive> directives_of(const CodeText& code, std::string_view keyword) {
  std::vector<Directive> found;
  const std::string& source = code.source();
  for (std::size_t line = 0; line < source.size();) {
    const std::size_t end = std::min(source.find('\n', line), source.size());
    const std::string_view text(source.data() + line, end - line);
    const std::size_t slashes = text.find_first_not_of(" \t");
    const bool is_comment = slashes != text.npos && text.substr(slashes, 2) == "//";
    const std::size_t at = is_comment ? text.find_first_not_of(" \t", slashes + 2) : text.npos;
    if (at != text.npos && text.substr(at).starts_with(keyword)) found.push_back({line + at, end});
    line = end + 1;
  }
  return found;
}

void change_numbers(const CodeText& code, std::size_t begin, std::size_t end, std::string_view kind,
                    Changes& changes) {
  const std::string& source = code.source();
  const auto is_word = [&](std::size_t i) {
    return std::isalnum(static_cast<unsigned char>(source[i])) != 0 || source[i] == '_';
  };
  for (std::size_t i = begin; i < end; ++i) {
    if (!is_word(i)) continue;
    std::size_t last = i;
    while (last < end && is_word(last)) ++last;
    const std::string number = source.substr(i, last - i);
    if (number.find_first_not_of("0123456789") == std::string::npos && number.size() < 9) {
      const long value = std::stol(number);
      for (const long other : {value + 1, value - 1, value * 2, value / 2}) {
        if (other > 0 && other != value)
          changes.push_back({kind, i, number.size(), std::to_string(other)});
      }
    }
    i = last;
  }
}

// `ceil_div(n, 256)` as `floor_div`: the last, partial tile is left out.
void round_down(const CodeText& code, std::size_t begin, std::size_t end, Changes& changes) {
  const std::string& source = code.source();
  constexpr std::string_view kUp = "ceil_div(";
  for (std::size_t at = source.find(kUp, begin); at < end; at = source.find(kUp, at + 1)) {
    int depth = 0;
    std::size_t comma = 0, i = at + kUp.size();
    for (; i < end && depth >= 0; ++i) {
      depth += source[i] == '(' ? 1 : source[i] == ')' ? -1 : 0;
      if (source[i] == ',' && depth == 0) comma = i;
    }
    if (depth >= 0 || comma == 0) continue;
    const std::string over = source.substr(at + kUp.size(), comma - at - kUp.size());
    const std::string under = source.substr(comma + 1, i - comma - 2);
    changes.push_back({"last_tile_dropped", at, i - at, "((" + over + ") / (" + under + "))"});
  }
}

}  // namespace

void collect_directives(const CodeText& code, Changes& changes) {
  const auto launches = directives_of(code, "@launch");
  for (const Directive& launch : launches) {
    const std::size_t open = code.source().find("<<<", launch.begin);
    const std::size_t close = code.source().find(">>>", launch.begin);
    if (open >= launch.end || close >= launch.end) continue;
    change_numbers(code, open, close, "launch_size", changes);
    round_down(code, open, close, changes);
    if (launches.size() > 1)
      changes.push_back({"launch_dropped", launch.begin, launch.end - launch.begin, ""});
  }
  for (const Directive& scratch : directives_of(code, "@scratch"))
    change_numbers(code, scratch.begin, scratch.end, "scratch_size", changes);
}

}  // namespace krl::service
