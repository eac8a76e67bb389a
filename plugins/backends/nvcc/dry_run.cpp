#include "plugins/backends/nvcc/dry_run.hpp"

#include <algorithm>
#include <cctype>

namespace krl::nvcc {
namespace {

bool is_name_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// "NAME=rest": the length of NAME, else 0.
std::size_t assigned_name(std::string_view line) {
  const std::size_t equals = line.find('=');
  if (equals == std::string_view::npos) return 0;
  const std::string_view name = line.substr(0, equals);
  return std::all_of(name.begin(), name.end(), is_name_character) ? equals : 0;
}

// Words between blanks; quotes join, "$NAME" is replaced.
class WordReader {
 public:
  explicit WordReader(const std::map<std::string, std::string>& variables)
      : variables_(variables) {}

  std::vector<std::string> read(std::string_view line) {
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (line[i] == '"') {
        quoted_ = !quoted_;
        word();
      } else if (line[i] == ' ' && !quoted_) {
        inside_ = false;
      } else if (line[i] == '$') {
        const auto begin = line.begin() + static_cast<std::ptrdiff_t>(i) + 1;
        const std::string name(begin, std::find_if_not(begin, line.end(), is_name_character));
        const auto found = variables_.find(name);
        if (found != variables_.end()) word() += found->second;
        i += name.size();
      } else {
        if (line[i] == '\\' && i + 1 < line.size()) ++i;
        word() += line[i];
      }
    }
    return std::move(words_);
  }

 private:
  std::string& word() {
    if (!inside_) words_.emplace_back();
    inside_ = true;
    return words_.back();
  }

  const std::map<std::string, std::string>& variables_;
  std::vector<std::string> words_;
  bool inside_ = false, quoted_ = false;
};

}  // namespace

DryRun read_dry_run(std::string_view text) {
  constexpr std::string_view kMark = "#$ ";
  DryRun run;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (!line.starts_with(kMark)) continue;
    line.remove_prefix(kMark.size());
    if (const std::size_t name = assigned_name(line)) {
      run.variables[std::string(line.substr(0, name))] = line.substr(name + 1);
    } else if (auto words = WordReader(run.variables).read(line); !words.empty()) {
      run.commands.push_back(std::move(words));
    }
  }
  return run;
}

}  // namespace krl::nvcc
