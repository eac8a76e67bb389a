#include "core/base/text.hpp"

#include <algorithm>

namespace krl::core {
namespace {

// U+0000..U+001F, U+007F, and U+0080..U+009F, which some terminals obey like escape sequences.
bool is_control(std::string_view point) {
  const auto lead = static_cast<unsigned char>(point.front());
  if (point.size() == 1) return lead < 0x20 || lead == 0x7F;
  return lead == 0xC2 && static_cast<unsigned char>(point[1]) < 0xA0;
}

}  // namespace

std::size_t code_point_size(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  const std::size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (text.size() < size) return 0;
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; };
  if (!std::all_of(text.begin() + 1, text.begin() + size, continues)) return 0;
  const auto second = static_cast<unsigned char>(text[1]);
  const bool overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
  const bool no_character = (lead == 0xED && second >= 0xA0) || (lead == 0xF4 && second >= 0x90);
  return overlong || no_character ? 0 : size;
}

std::string one_line(std::string_view text) {
  std::string line;
  while (!text.empty()) {
    const std::size_t size = code_point_size(text);
    const std::string_view point = text.substr(0, std::max<std::size_t>(size, 1));
    if (size == 0) {
      line += '?';
    } else if (is_control(point)) {
      line += ' ';
    } else {
      line += point;
    }
    text.remove_prefix(point.size());
  }
  return line;
}

std::vector<std::string> printable_lines(std::string_view text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(one_line(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

}  // namespace krl::core
