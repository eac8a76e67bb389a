#include "core/plan/source.hpp"

#include <algorithm>
#include <limits>
#include <system_error>
#include <tuple>

#include "core/base/file_system.hpp"
#include "core/base/text.hpp"

namespace krl::core {
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

namespace fs = std::filesystem;

tl::expected<std::string, std::string> read_text_file(const fs::path& file) {
  constexpr std::uintmax_t kMaxBytes = 1 << 20;
  const std::string name = "'" + file.string() + "' ";
  const auto unreadable = [&name](const std::string& why) {
    return tl::unexpected("cannot read " + name + "(" + why + ")");
  };
  if (file.native().find('\0') != std::string::npos) {
    return tl::unexpected(name + "is not a file name: it contains a zero byte");
  }
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (!fs::exists(status)) return unreadable(error.message());
  if (fs::is_directory(status)) return tl::unexpected(name + "is a folder, not a file");
  if (!fs::is_regular_file(status)) return tl::unexpected(name + "is not a regular file");
  if (fs::file_size(file, error) > kMaxBytes) {
    return error ? unreadable(error.message()) : tl::unexpected(name + "is larger than 1 MiB");
  }
  Result<std::string> text = read_file(file);
  if (!text) return tl::unexpected(std::move(text).error().message);
  return std::move(*text);
}

namespace {

constexpr std::size_t kMaxShown = 100;  // problems
constexpr std::size_t kContext = 60;    // code points of a long line shown left of the caret
constexpr std::size_t kMaxLine = 160;   // code points of a line shown

// Returns one string per code point; a character that a terminal could misunderstand becomes '?'.
std::vector<std::string> printable(std::string_view line) {
  std::vector<std::string> points;
  while (!line.empty()) {
    const std::size_t size = code_point_size(line);
    const auto lead = static_cast<unsigned char>(line.front());
    const bool control = (lead < 0x20 && lead != '\t') || lead == 0x7F;
    points.emplace_back(size == 0 || control ? "?" : line.substr(0, size));
    line.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return points;
}

std::string visible(std::string_view text) {
  std::string out;
  for (const std::string& point : printable(text)) out += point;
  return out;
}

// "^~~~" under columns of `points`, with the tabs of the line kept so that both align.
std::string underline(const std::vector<std::string>& points, std::size_t first, std::size_t from,
                      std::size_t length) {
  std::string out;
  for (std::size_t i = first; i < from; ++i) {
    out += i < points.size() && points[i] == "\t" ? "\t" : " ";
  }
  out += '^';
  const std::size_t end = std::min(from + length, points.size());
  for (std::size_t i = from + 1; i < end; ++i) out += '~';
  return out;
}

std::string line_with_caret(const Problem& problem) {
  const Origin& at = problem.origin;
  const std::string number = std::to_string(at.line);
  const std::vector<std::string> points = printable(at.source->line(at.line));
  const std::size_t from = std::min<std::size_t>(std::max(1u, at.column) - 1, points.size());
  const std::size_t first = from > kMaxLine - kContext ? from - kContext : 0;
  const std::size_t last = std::min(points.size(), first + kMaxLine);
  std::string shown;
  for (std::size_t i = first; i < last; ++i) shown += points[i];
  const std::size_t length = std::min<std::size_t>(at.length, last - std::min(from, last));
  std::string out = "  " + number + " | " + shown + "\n";
  out += "  " + std::string(number.size(), ' ') + " | " + underline(points, first, from, length);
  if (!problem.hint.empty()) out += " " + visible(problem.hint);
  return out + "\n";
}

// The lines of a message after its first, as a plugin writes them that found several things.
std::string more_lines(std::string_view rest) {
  std::string out;
  while (!rest.empty()) {
    rest.remove_prefix(1);
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    if (end > 0) out += "  " + visible(rest.substr(0, end)) + "\n";
    rest.remove_prefix(end);
  }
  return out;
}

auto sort_key(const Problem& problem) {
  const Origin& at = problem.origin;
  constexpr auto kLast = std::numeric_limits<std::uint32_t>::max();
  return std::tuple(at.source == nullptr ? 0 : at.source->order, at.line == 0 ? kLast : at.line,
                    at.column, std::string_view(problem.message), std::string_view(problem.hint));
}

}  // namespace

std::string rendered(const Problem& problem) {
  const Origin& at = problem.origin;
  const bool nameless = at.is_default() || at.source->name.empty();
  std::string out = nameless ? "plan" : visible(at.text());
  const std::string_view message = problem.message;
  const std::size_t end = std::min(message.find('\n'), message.size());
  out += ": error: " + visible(message.substr(0, end)) + "\n";
  if (!at.is_default() && at.line > 0) {
    out += line_with_caret(problem);
  } else if (!problem.hint.empty()) {
    out += "  | " + visible(problem.hint) + "\n";
  }
  return out + more_lines(message.substr(end));
}

std::string rendered(std::vector<Problem> problems) {
  const auto less = [](const Problem& a, const Problem& b) { return sort_key(a) < sort_key(b); };
  const auto same = [](const Problem& a, const Problem& b) { return sort_key(a) == sort_key(b); };
  std::ranges::sort(problems, less);
  problems.erase(std::unique(problems.begin(), problems.end(), same), problems.end());
  std::string out;
  for (std::size_t i = 0; i < std::min(problems.size(), kMaxShown); ++i) {
    out += rendered(problems[i]);
  }
  if (problems.size() > kMaxShown) {
    out += "and " + std::to_string(problems.size() - kMaxShown) + " more errors\n";
  }
  return out;
}

std::string note_at(const Origin& origin, std::string_view message) {
  return visible(origin.text()) + ": note: " + visible(message);
}

Error problem_at(const Origin& origin, std::string message, std::string hint) {
  return {Code::kInvalidArgument, rendered(Problem{origin, std::move(message), std::move(hint)})};
}

}  // namespace krl::core
