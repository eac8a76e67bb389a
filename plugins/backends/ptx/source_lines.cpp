#include "plugins/backends/ptx/source_lines.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include "plugins/backends/ptx/constants.hpp"

namespace krl::ptx {
namespace {

constexpr std::uint64_t kMostFiles = 4096;
constexpr std::uint64_t kMostLines = 0xffffffff;

// "kernel.cu" for "/build/kernel.cu".
bool is_named(std::string_view file, std::string_view candidate) {
  if (candidate.empty() || !file.ends_with(candidate)) return false;
  return file.size() == candidate.size() || file[file.size() - candidate.size() - 1] == '/';
}

}  // namespace

bool SourceLines::Position::operator<(const Position& other) const {
  return std::tie(file, line, column) < std::tie(other.file, other.line, other.column);
}

// `.file 1 "kernel.cu", 1700000000, 4096`
void SourceLines::read_file(Tokens& tokens) {
  const auto number =
      static_cast<std::uint32_t>(read_count(tokens, kMostFiles, "the number of a file"));
  files_[number] = tokens.expect(Token::kText, "the name of a file").text;
  if (!tokens.accept(",")) return;
  read_count(tokens, ~std::uint64_t{0}, "the time of a file");
  tokens.expect(",");
  read_count(tokens, ~std::uint64_t{0}, "the size of a file");
}

// `.loc 2 103 5, function_name $L__info_string0 + 4, inlined_at 1 2 130`
void SourceLines::read_place(Tokens& tokens) {
  const Position position = read_position(tokens);
  std::uint32_t outer = 0;
  while (tokens.accept(",")) {
    if (tokens.accept("function_name")) {
      tokens.expect(Token::kWord, "a label");
      if (tokens.accept("+")) read_count(tokens, kMostLines, "an offset");
    } else if (tokens.accept("inlined_at")) {
      const Position at = read_position(tokens);
      const auto found = latest_.find(at);
      outer = found == latest_.end() ? add(at, 0) : found->second;
    } else {
      tokens.unexpected("'function_name' or 'inlined_at'");
    }
  }
  place_ = add(position, outer);
}

SourceLines::Position SourceLines::read_position(Tokens& tokens) {
  const auto number = [&](std::string_view what) {
    return static_cast<std::uint32_t>(read_count(tokens, kMostLines, what));
  };
  Position position;
  position.file = number("the number of a file");
  position.line = number("a line");
  position.column = number("a column");
  return position;
}

std::uint32_t SourceLines::add(const Position& position, std::uint32_t outer) {
  locs_.push_back({position, outer});
  const auto place = static_cast<std::uint32_t>(locs_.size() - 1);
  latest_[position] = place;
  return place;
}

std::vector<std::string> SourceLines::files() const {
  std::vector<std::string> files;
  for (const auto& [number, name] : files_) {
    files.resize(number + 1);
    files[number] = name;
  }
  return files;
}

bool SourceLines::names(std::string_view candidate_file) const {
  return std::ranges::any_of(
      files_, [&](const auto& file) { return is_named(file.second, candidate_file); });
}

std::vector<std::uint32_t> SourceLines::lines(std::string_view candidate_file) const {
  std::set<std::uint32_t> own;
  for (const auto& [number, name] : files_) {
    if (is_named(name, candidate_file)) own.insert(number);
  }
  std::vector<std::uint32_t> lines(locs_.size());
  for (std::size_t i = 1; i < locs_.size(); ++i) {
    const auto& [position, outer] = locs_[i];
    lines[i] = lines[outer];
    if (lines[i] == 0 && own.count(position.file) != 0) lines[i] = position.line;
  }
  return lines;
}

}  // namespace krl::ptx
