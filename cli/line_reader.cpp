#include "cli/line_reader.hpp"

#include <histedit.h>
#include <unistd.h>

#include <clocale>
#include <iostream>
#include <string_view>

#include "cli/console.hpp"
#include "core/base/user_folders.hpp"

namespace krl::cli {
namespace fs = std::filesystem;
namespace {

constexpr int kMostLines = 1000;  // kept in the history

// Returns the file, in a folder that is there; empty if it cannot be made.
fs::path history_file(const char* name) {
  const auto state = users_folder(UserFolder::kState);
  std::error_code error;
  if (state) fs::create_directories(*state, error);
  return !state || error ? fs::path() : *state / name;
}

}  // namespace

struct LineReader::Editor {
  explicit Editor(const char* name)
      : file(history_file(name)), line(::el_init("kernelrl", stdin, output(), errors())) {
    ::history(past, &event, H_SETSIZE, kMostLines);
    ::history(past, &event, H_SETUNIQUE, 1);
    if (!file.empty()) ::history(past, &event, H_LOAD, file.c_str());
    ::el_set(
        line, EL_PROMPT, +[](EditLine*) {
          static char prompt[] = "> ";
          return prompt;
        });
    ::el_set(line, EL_EDITOR, "emacs");
    ::el_set(line, EL_HIST, ::history, past);
    ::el_set(line, EL_SIGNAL, 1);  // so that Ctrl-C leaves the terminal as it was
    ::el_source(line, nullptr);    // ~/.editrc
  }
  ~Editor() {
    ::el_end(line);
    ::history_end(past);
  }
  Editor(const Editor&) = delete;
  Editor& operator=(const Editor&) = delete;

  // Saves the line at once, since the process may end in any way; what a person types is private.
  void remember(const char* text) {
    ::history(past, &event, H_ENTER, text);
    if (file.empty() || ::history(past, &event, H_SAVE, file.c_str()) == -1) return;
    std::error_code ignored;
    fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write, ignored);
  }

  fs::path file;
  HistEvent event{};
  History* past = ::history_init();
  EditLine* line;
};

LineReader::LineReader(const char* history) {
  if (::isatty(STDIN_FILENO) != 1 || ::isatty(::fileno(output())) != 1) return;
  std::setlocale(LC_CTYPE, "");  // to edit characters of several bytes
  editor_ = std::make_unique<Editor>(history);
}

LineReader::~LineReader() = default;

std::optional<std::string> LineReader::next() {
  std::string line;
  if (editor_ == nullptr)
    return std::getline(std::cin, line) ? std::optional(std::move(line)) : std::nullopt;
  int size = 0;
  const char* typed = ::el_gets(editor_->line, &size);
  if (typed == nullptr || size <= 0) return std::nullopt;
  line.assign(typed, static_cast<std::size_t>(size));
  if (line.find_first_not_of(" \t\n") != std::string::npos) editor_->remember(typed);
  if (line.ends_with('\n')) line.pop_back();
  return line;
}

}  // namespace krl::cli
