#include "core/episode/template.hpp"

#include <fmt/format.h>
#include <kernelrl/spelling.hpp>

#include <algorithm>
#include <sstream>

#include "core/plan/text_file.hpp"

namespace krl {
namespace {

constexpr std::string_view kOpen = "{{", kClose = "}}";

bool leaves_no_line(bool has_name, const std::string& rendered) {
  return has_name && rendered.find_first_not_of(" \t") == std::string::npos;
}

}  // namespace

Result<Template> Template::parse(std::string_view text, const std::vector<std::string>& known,
                                 std::string_view origin) {
  Template result;
  std::istringstream lines{std::string(text)};
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    Line pieces;
    std::size_t at = 0;
    for (std::size_t open = line.find(kOpen); open != std::string::npos;
         open = line.find(kOpen, at)) {
      const std::size_t close = line.find(kClose, open);
      const auto where = [&] { return fmt::format("{}:{}:{}: error: ", origin, number, open + 1); };
      if (close == std::string::npos) return invalid(where() + "'{{' without '}}' on its line");
      const std::string name = line.substr(open + 2, close - open - 2);
      if (std::find(known.begin(), known.end(), name) == known.end()) {
        return invalid(fmt::format("{}nothing is called '{}'{}   known: {}", where(), name,
                                   did_you_mean(name, known, ""), fmt::join(known, ", ")));
      }
      if (open > at) pieces.push_back({line.substr(at, open - at), false});
      pieces.push_back({name, true});
      at = close + 2;
    }
    if (at < line.size() || pieces.empty()) pieces.push_back({line.substr(at), false});
    result.lines_.push_back(std::move(pieces));
  }
  return result;
}

Result<Template> Template::read(const std::filesystem::path& file,
                                const std::vector<std::string>& known) {
  const auto text = read_text_file(file);
  if (!text) return failure(Code::kNotFound, text.error());
  return parse(*text, known, file.string());
}

std::string Template::render(const Values& values) const {
  std::string text;
  for (const Line& line : lines_) {
    std::string rendered;
    bool has_name = false;
    for (const Piece& piece : line) {
      has_name |= piece.is_name;
      rendered += piece.is_name ? values.find(piece.text)->second : piece.text;
    }
    if (leaves_no_line(has_name, rendered)) continue;
    text += rendered;
    if (rendered.empty() || rendered.back() != '\n') text += '\n';
  }
  return text;
}

}  // namespace krl
