// Lines that a person types: on a terminal they can be edited, and the history is kept between calls
// (libedit); over a pipe they come as they are. Main thread.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace krl::cli {

class LineReader {
 public:
  // `history`: the name of a file in the user's folder of state, kernelrl/ in $XDG_STATE_HOME or
  // ~/.local/state. Where there is no such folder, the history ends with the object.
  explicit LineReader(const char* history);
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  bool on_terminal() const { return editor_ != nullptr; }
  // Returns the next line without its end; nothing after the last one.
  std::optional<std::string> next();

 private:
  struct Editor;
  std::unique_ptr<Editor> editor_;
};

}  // namespace krl::cli
