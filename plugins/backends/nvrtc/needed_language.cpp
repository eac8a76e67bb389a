#include "plugins/backends/nvrtc/needed_language.hpp"

#include <algorithm>
#include <iterator>
#include <vector>

#include "plugins/backends/nvrtc/prelude.hpp"

namespace krl::nvrtc {
namespace {

constexpr std::string_view kHeaders[] = {"cuda_bf16.h", "cuda_fp16.h", "cuda_runtime.h",
                                         "device_launch_parameters.h", "math_constants.h"};

// The order matters: the second includes the first.
constexpr std::string_view kLargeHeaders[] = {"cooperative_groups.h",
                                              "cooperative_groups/reduce.h"};

template <class List>
bool contains(const List& list, std::string_view word) {
  return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

// Returns the text in angle brackets or quotes after blanks; empty if there is none.
std::string_view header_at(std::string_view text) {
  const std::size_t open = std::min(text.find_first_not_of(" \t"), text.size());
  text.remove_prefix(open);
  if (text.empty() || (text[0] != '<' && text[0] != '"')) return {};
  const std::size_t close = text.find(text[0] == '<' ? '>' : '"', 1);
  return close == std::string_view::npos ? text.substr(0, 0) : text.substr(1, close - 1);
}

}  // namespace

// The word counts wherever it is: in a comment or a macro it costs time, and nothing else.
bool is_minimal(std::string_view source) {
  constexpr std::string_view kWord = "include";
  for (std::size_t at = 0; (at = source.find(kWord, at)) != std::string_view::npos;) {
    at += kWord.size();
    const std::string_view header = header_at(source.substr(at));
    if (!contains(kHeaders, header) && !contains(kPreludeHeaders, header)) return false;
  }
  return true;
}

// Only lines that are blank, a comment or an `#include` are looked through.
std::string preamble_of(std::string_view source) {
  constexpr std::string_view kInclude = "#include";
  std::vector<std::string_view> included;
  while (!source.empty()) {
    const std::size_t end = std::min(source.find('\n'), source.size());
    std::string_view line = source.substr(0, end);
    source.remove_prefix(std::min(end + 1, source.size()));
    line.remove_prefix(std::min(line.find_first_not_of(" \t\r"), line.size()));
    if (line.starts_with(kInclude)) included.push_back(header_at(line.substr(kInclude.size())));
    if (!line.empty() && !line.starts_with(kInclude) && !line.starts_with("//")) break;
  }
  std::string preamble;
  for (const std::string_view header : kLargeHeaders) {
    if (contains(included, header)) preamble += "#include <" + std::string(header) + ">\n";
  }
  return preamble;
}

}  // namespace krl::nvrtc
