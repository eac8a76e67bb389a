#include "core/plan/source.hpp"

namespace krl {

std::string_view Source::line(std::uint32_t number) const {
  std::string_view rest = text;
  for (std::uint32_t n = 1; n < number; ++n) {
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos) return {};
    rest.remove_prefix(end + 1);
  }
  rest = rest.substr(0, number == 0 ? 0 : rest.find('\n'));
  if (!rest.empty() && rest.back() == '\r') rest.remove_suffix(1);
  return rest;
}

std::filesystem::path Origin::folder() const {
  return source == nullptr ? std::filesystem::path() : source->folder;
}

std::string Origin::text() const {
  return source == nullptr || line == 0 ? line_text() : line_text() + ":" + std::to_string(column);
}

std::string Origin::line_text() const {
  if (source == nullptr) return "default";
  return line == 0 ? source->name : source->name + ":" + std::to_string(line);
}

}  // namespace krl
