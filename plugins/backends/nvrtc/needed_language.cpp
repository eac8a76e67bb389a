#include "plugins/backends/nvrtc/needed_language.hpp"

#include <algorithm>
#include <iterator>

#include "plugins/backends/nvrtc/prelude.hpp"

namespace krl::nvrtc {
namespace {

constexpr std::string_view kHeaders[] = {"cuda_bf16.h", "cuda_fp16.h", "cuda_runtime.h",
                                         "device_launch_parameters.h", "math_constants.h"};

template <class List>
bool contains(const List& list, std::string_view word) {
  return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

// What stands in angle brackets or quotes behind blanks; empty if nothing does.
std::string_view header_at(std::string_view text) {
  const std::size_t open = std::min(text.find_first_not_of(" \t"), text.size());
  text.remove_prefix(open);
  if (text.empty() || (text[0] != '<' && text[0] != '"')) return {};
  const std::size_t close = text.find(text[0] == '<' ? '>' : '"', 1);
  return close == std::string_view::npos ? text.substr(0, 0) : text.substr(1, close - 1);
}

}  // namespace

// The word counts wherever it stands: in a comment or a macro it costs time, and nothing else.
bool is_minimal(std::string_view source) {
  constexpr std::string_view kWord = "include";
  for (std::size_t at = 0; (at = source.find(kWord, at)) != std::string_view::npos;) {
    at += kWord.size();
    const std::string_view header = header_at(source.substr(at));
    if (!contains(kHeaders, header) && !contains(kPreludeHeaders, header)) return false;
  }
  return true;
}

}  // namespace krl::nvrtc
