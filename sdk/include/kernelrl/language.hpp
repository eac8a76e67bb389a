// The language of a candidate's text. Header-only, C++17, no dependencies; throws nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace krl {

enum class Language : std::uint8_t { kCuda, kPtx, kTriton };

namespace detail {

// True if one of the lines begins with the import of Triton: `import triton…` or `from triton…`.
inline bool imports_triton(std::string_view source) {
  for (std::size_t at = 0; at != std::string_view::npos;) {
    for (const std::string_view word : {"import triton", "from triton"})
      if (source.substr(at, word.size()) == word) return true;
    at = source.find('\n', at);
    if (at != std::string_view::npos) ++at;
  }
  return false;
}

// The first character that is neither blank nor in a comment of C; '\0' if there is none.
inline char first_of_code(std::string_view source) {
  std::size_t at = 0;
  while (at < source.size()) {
    const bool line = source.substr(at, 2) == "//", block = source.substr(at, 2) == "/*";
    if (line || block) {
      const std::size_t end = line ? source.find('\n', at) : source.find("*/", at + 2);
      if (end == std::string_view::npos) return '\0';
      at = end + (line ? 1 : 2);
    } else if (std::string_view(" \t\r\n\v\f").find(source[at]) != std::string_view::npos) {
      ++at;
    } else {
      return source[at];
    }
  }
  return '\0';
}

}  // namespace detail

// Triton imports itself, PTX begins with a directive (`.version`); all else is CUDA C++.
inline Language language_of(std::string_view source) {
  if (detail::imports_triton(source)) return Language::kTriton;
  return detail::first_of_code(source) == '.' ? Language::kPtx : Language::kCuda;
}

inline std::string_view name_of(Language language) {
  constexpr std::array<std::string_view, 3> kNames = {"CUDA C++", "PTX", "Triton"};
  return kNames[static_cast<std::size_t>(language)];
}

// The line that opens a fence around such a text in an answer.
inline std::string_view opening_fence(std::string_view source) {
  constexpr std::array<std::string_view, 3> kFences = {"```cuda\n", "```ptx\n", "```python\n"};
  return kFences[static_cast<std::size_t>(language_of(source))];
}

// The extensions of files with such texts, in the order of the languages.
inline constexpr std::array<std::string_view, 3> kCandidateExtensions = {".cu", ".ptx", ".py"};

// Returns the extension of a file with this text.
inline std::string_view extension_of(std::string_view source) {
  return kCandidateExtensions[static_cast<std::size_t>(language_of(source))];
}

}  // namespace krl
