#include "plugins/backends/evaluator/compile/diagnostics.hpp"

#include <kernelrl/abi.h>
#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

namespace krl::evaluator {
namespace {

bool is_path_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '/' || c == '.' || c == '_' ||
         c == '-' || c == '+';
}

// "/usr/lib/x/y.h:3" becomes "y.h:3"; a lone slash (a division) stays.
std::string without_folders(std::string_view line) {
  std::string out;
  for (std::size_t i = 0; i < line.size();) {
    const bool starts = line[i] == '/' && (i == 0 || !is_path_character(line[i - 1])) &&
                        i + 1 < line.size() && is_path_character(line[i + 1]);
    if (!starts) {
      out += line[i++];
      continue;
    }
    std::size_t end = i;
    while (end < line.size() && is_path_character(line[end])) ++end;
    const std::string_view path = line.substr(i, end - i);
    out += path.substr(path.rfind('/') + 1);
    i = end;
  }
  return out;
}

// One text for every file that cannot be opened, so that no message tells whether it exists.
std::string without_reason(std::string line) {
  constexpr std::string_view kNvrtc = "cannot open source file \"", kGcc = "error: ";
  if (const std::size_t at = line.find(kNvrtc); at != std::string::npos) {
    const std::size_t quote = line.find('"', at + kNvrtc.size());
    return line.substr(0, quote == std::string::npos ? quote : quote + 1);
  }
  if (line.find(kGcc) == std::string::npos) return line;
  for (const std::string_view reason :
       {": Permission denied", ": Is a directory", ": Not a directory", ": File name too long",
        ": Too many levels of symbolic links"}) {
    if (!line.ends_with(reason)) continue;
    return line.substr(0, line.size() - reason.size()) + ": No such file or directory";
  }
  return line;
}

// Returns the length of the UTF-8 sequence at `at`, 0 if there is none.
std::size_t sequence_length(std::string_view text, std::size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  const std::size_t length = lead < 0x80                    ? 1
                             : lead >= 0xc2 && lead < 0xe0  ? 2
                             : lead >= 0xe0 && lead < 0xf0  ? 3
                             : lead >= 0xf0 && lead <= 0xf4 ? 4
                                                            : 0;
  if (length == 0 || at + length > text.size()) return 0;
  for (std::size_t k = 1; k < length; ++k) {
    if ((static_cast<unsigned char>(text[at + k]) & 0xc0) != 0x80) return 0;
  }
  return length;
}

std::string valid_utf8(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = sequence_length(text, i);
    const bool control = length == 1 && text[i] != '\n' && text[i] != '\t' &&
                         static_cast<unsigned char>(text[i]) < 0x20;
    if (length == 0 || control) {
      out += '?';
      ++i;
    } else {
      out += text.substr(i, length);
      i += length;
    }
  }
  return out;
}

// Cuts a line of valid UTF-8; one that was cut before is left alone.
std::string cut(std::string line) {
  constexpr std::string_view kRest = "…";
  if (line.size() <= kMaxLogLineBytes) return line;
  std::size_t end = kMaxLogLineBytes - kRest.size();
  while ((static_cast<unsigned char>(line[end]) & 0xc0) == 0x80) --end;  // not inside a character
  return line.replace(end, std::string::npos, kRest);
}

// Takes ":NUMBER" or "(NUMBER" off the front.
std::optional<std::uint32_t> take_number(std::string_view& text) {
  if (text.size() < 2 || (text[0] != ':' && text[0] != '(')) return std::nullopt;
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

struct Severity {
  std::string_view mark;
  std::uint32_t value;
};
constexpr Severity kSeverities[] = {{": fatal error: ", KRL_SEVERITY_ERROR},
                                    {": error: ", KRL_SEVERITY_ERROR},
                                    {": Error: ", KRL_SEVERITY_ERROR},  // from the assembler
                                    {": internal compiler error: ", KRL_SEVERITY_ERROR},
                                    {": catastrophic error: ", KRL_SEVERITY_ERROR},
                                    // From ptxas, with a line.
                                    {"; error   : ", KRL_SEVERITY_ERROR},
                                    {"; fatal   : ", KRL_SEVERITY_ERROR},
                                    {"ptxas error   : ", KRL_SEVERITY_ERROR},
                                    {"ptxas fatal   : ", KRL_SEVERITY_ERROR},
                                    {": warning: ", KRL_SEVERITY_WARNING},
                                    {": warning #", KRL_SEVERITY_WARNING}};

std::optional<Diagnostic> parse_line(std::string_view line, std::string_view source_name) {
  for (const Severity& severity : kSeverities) {
    const std::size_t mark = line.find(severity.mark);
    if (mark == std::string_view::npos) continue;
    Diagnostic found;
    found.severity = severity.value;
    std::string_view place = line.substr(0, mark);
    if (place.substr(0, source_name.size()) == source_name) {
      place.remove_prefix(source_name.size());
      found.line = take_number(place).value_or(0);
      found.column = take_number(place).value_or(0);
    }
    std::string_view text = line.substr(mark + severity.mark.size());
    const std::size_t bracket = text.rfind(" [-W");
    if (bracket != std::string_view::npos && text.back() == ']') {
      found.code = text.substr(bracket + 2, text.size() - bracket - 3);
      text = text.substr(0, bracket);
    }
    if (severity.mark.ends_with('#')) {  // "177-D: text"
      const std::size_t colon = std::min(text.find(": "), text.size());
      found.code = "#" + std::string(text.substr(0, colon));
      text.remove_prefix(std::min(colon + 2, text.size()));
    }
    found.text = text;
    return found;
  }
  return std::nullopt;
}

}  // namespace

std::string clean_log(std::string_view log, std::size_t most) {
  std::string out;
  for (std::size_t start = 0; start < log.size();) {
    const std::size_t end = std::min(log.find('\n', start), log.size());
    const std::string line = cut(
        valid_utf8(without_folders(without_reason(std::string(log.substr(start, end - start))))));
    if (out.size() + line.size() + 1 > most) break;
    out += line;
    out += '\n';
    start = end + 1;
  }
  return out;
}

std::vector<Diagnostic> parse_diagnostics(std::string_view log, std::string_view source_name) {
  std::vector<Diagnostic> found;
  for (std::size_t start = 0; start < log.size() && found.size() < kMaxDiagnostics;) {
    const std::size_t end = std::min(log.find('\n', start), log.size());
    const auto diagnostic = parse_line(log.substr(start, end - start), source_name);
    const bool is_new =
        diagnostic && std::find(found.begin(), found.end(), *diagnostic) == found.end();
    if (is_new) found.push_back(*diagnostic);
    start = end + 1;
  }
  return found;
}

bool says_out_of_memory(std::string_view log) {
  constexpr std::string_view kPhrases[] = {"out of memory", "virtual memory exhausted",
                                           "annot allocate memory", "bad_alloc"};
  return std::any_of(std::begin(kPhrases), std::end(kPhrases), [&](std::string_view phrase) {
    return log.find(phrase) != std::string_view::npos;
  });
}

std::string first_error(const std::vector<Diagnostic>& diagnostics) {
  for (const Diagnostic& diagnostic : diagnostics) {
    if (diagnostic.severity != KRL_SEVERITY_ERROR) continue;
    if (diagnostic.line == 0) return diagnostic.text;
    return "line " + std::to_string(diagnostic.line) + ": " + diagnostic.text;
  }
  return {};
}

}  // namespace krl::evaluator
