#include "core/run/resume_command.hpp"

#include <algorithm>
#include <cctype>
#include <system_error>

namespace krl {

namespace fs = std::filesystem;

namespace {

bool is_plain(char c) {
  constexpr std::string_view kMarks = "_-./:@%+=,";
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         kMarks.find(c) != std::string_view::npos;
}

std::string absolute_text(const fs::path& path) {
  std::error_code ignored;
  return fs::absolute(path, ignored).lexically_normal().string();
}

}  // namespace

std::string shell_word(std::string_view text) {
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_plain)) return std::string(text);
  std::string word = "'";
  for (const char c : text) {
    if (c == '\'') {
      word += "'\\''";
    } else {
      word += c;
    }
  }
  return word + "'";
}

std::string resume_command(const std::string& program, const fs::path& run) {
  const bool found_by_path = program.find('/') == std::string::npos;
  return shell_word(found_by_path ? "kernelrl" : absolute_text(program)) + " runs resume " +
         shell_word(absolute_text(run));
}

}  // namespace krl
