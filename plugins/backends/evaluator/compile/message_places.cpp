#include "plugins/backends/evaluator/compile/message_places.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <vector>

#include "plugins/backends/evaluator/compile/source_file.hpp"

namespace krl::evaluator {
namespace {

constexpr std::string_view kPtxas = "ptxas ", kPtxLine = ", line ";

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    lines.push_back(text.substr(0, text.find('\n')));
    text.remove_prefix(std::min(lines.back().size() + 1, text.size()));
  }
  return lines;
}

std::string_view without_blanks(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  return text.substr(0, text.find_last_not_of(" \t\r") + 1);
}

// Removes the number after blanks from the front and returns it; 0 if there is none.
std::uint32_t take_number(std::string_view* text) {
  *text = without_blanks(*text);
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  text->remove_prefix(static_cast<std::size_t>(end - text->data()));
  return error == std::errc() ? number : 0;
}

std::string placed(std::uint32_t line, std::string_view message) {
  return std::string(kSourceFile) + "(" + std::to_string(line) + "): " + std::string(message) +
         "\n";
}

// 0 if no directive launches `kernel`.
std::uint32_t line_of_launch(std::string_view kernel, std::string_view source) {
  constexpr std::string_view kLaunch = "@launch";
  std::uint32_t line = 0;
  for (const std::string_view text : lines_of(source)) {
    ++line;
    const std::size_t at = text.find(kLaunch);
    if (at == std::string_view::npos) continue;
    if (without_blanks(text.substr(at + kLaunch.size())).starts_with(kernel)) return line;
  }
  return 0;
}

// Returns the number of the candidate's file, from `.file 1 "kernel.cu"`; 0 if there is none.
std::uint32_t own_file(const std::vector<std::string_view>& ptx) {
  constexpr std::string_view kFile = ".file";
  for (std::string_view line : ptx) {
    line = without_blanks(line);
    if (!line.starts_with(kFile) || line.find(kSourceFile) == line.npos) continue;
    line.remove_prefix(kFile.size());
    return take_number(&line);
  }
  return 0;
}

// The innermost line of file `own` that a .loc names; 0 if it names none.
std::uint32_t line_in(std::string_view loc, std::uint32_t own) {
  constexpr std::string_view kLoc = ".loc", kInlined = "inlined_at";
  for (std::string_view prefix = kLoc; loc.find(prefix) != loc.npos; prefix = kInlined) {
    loc.remove_prefix(loc.find(prefix) + prefix.size());
    const std::uint32_t file = take_number(&loc), line = take_number(&loc);
    if (file == own) return line;
  }
  return 0;
}

// The candidate's line for line `number` of the PTX, which is its own if no .file names another; 0
// if it is not known.
std::uint32_t source_line(const std::vector<std::string_view>& ptx, std::uint32_t number) {
  const std::uint32_t own = own_file(ptx);
  if (own == 0) return number;
  for (std::size_t i = std::min<std::size_t>(number, ptx.size()); i-- > 0;) {
    if (without_blanks(ptx[i]).starts_with(".loc")) return line_in(ptx[i], own);
  }
  return 0;
}

// "error: Arguments mismatch …" of a message of ptxas, and the line of the PTX.
struct PtxMessage {
  std::uint32_t line = 0;  // 0: it is none
  std::string text;
};
PtxMessage ptx_message(std::string_view message) {
  const std::size_t at = message.find(kPtxLine), end = message.find("; ", at);
  const std::size_t colon = message.find(" : ", end);
  if (!message.starts_with(kPtxas) || end == message.npos || colon == message.npos) return {};
  std::string_view number = message.substr(at + kPtxLine.size());
  const std::string_view severity = message.substr(end + 2, message.find(' ', end + 2) - end - 2);
  const std::string mark = severity == "warning" ? "warning: " : "error: ";
  return {take_number(&number), mark + std::string(message.substr(colon + 3))};
}

}  // namespace

std::string with_lines_of_launches(std::string_view messages, std::string_view source) {
  constexpr std::string_view kNames = "__nv_name_map(", kPragma = "#pragma nv_mangled_name ";
  const auto lines = lines_of(messages);
  std::string result;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::size_t name = i + 1 < lines.size() ? lines[i + 1].find(kPragma) : lines[i].npos;
    const std::size_t colon = lines[i].find(": ");
    if (lines[i].starts_with(kNames) && name != lines[i].npos && colon != lines[i].npos) {
      const auto kernel = without_blanks(lines[i + 1].substr(name + kPragma.size()));
      result += placed(line_of_launch(kernel, source), lines[i].substr(colon + 2));
    } else {
      result.append(lines[i]).push_back('\n');
    }
  }
  return result;
}

std::string in_ascii(std::string_view ptx) {
  std::string text(ptx);
  for (char& c : text)
    if (static_cast<unsigned char>(c) >= 0x80) c = '?';
  return text;
}

bool names_lines_of_ptx(std::string_view messages) {
  const auto lines = lines_of(messages);
  return std::any_of(lines.begin(), lines.end(),
                     [](std::string_view line) { return ptx_message(line).line != 0; });
}

std::string with_lines_of_ptx(std::string_view messages, std::string_view ptx) {
  const auto ptx_lines = lines_of(ptx);
  std::string result;
  for (const std::string_view line : lines_of(messages)) {
    const PtxMessage message = ptx_message(line);
    const std::uint32_t place = message.line != 0 ? source_line(ptx_lines, message.line) : 0;
    if (place != 0) {
      result += placed(place, message.text);
    } else {
      result.append(line).push_back('\n');
    }
  }
  return result;
}

}  // namespace krl::evaluator
