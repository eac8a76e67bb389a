// What a person types into a terminal of its own, key by key.
#include "cli/line_reader.hpp"

#include <gtest/gtest.h>
#include <pty.h>
#include <sched.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "cli/console.hpp"
#include "core/base/file_system.hpp"
#include "tests/scratch_folder.hpp"

namespace krl::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kUp = "\x1b[A";

// Reads lines until their end, in a process whose terminal is the standard input and output, and
// whose user has this folder of state. Writes them to a file there.
[[noreturn]] void read_lines(const fs::path& folder) {
  ::setenv("TERM", "xterm", 1);
  ::setenv("XDG_STATE_HOME", folder.c_str(), 1);
  ::unsetenv("EDITRC");
  keep_streams();
  std::FILE* const read = std::fopen((folder / "lines").c_str(), "w");
  LineReader reader("history");
  std::fputs(reader.on_terminal() ? "terminal\n" : "pipe\n", read);
  while (const auto line = reader.next()) std::fprintf(read, "[%s]\n", line->c_str());
  std::fclose(read);
  ::_exit(0);
}

// True once the reader takes each key as it comes; it shows its prompt shortly before.
bool takes_keys(int terminal) {
  termios modes{};
  return ::tcgetattr(terminal, &modes) == 0 && (modes.c_lflag & ICANON) == 0;
}

// Waits until the terminal shows a prompt on a line of its own, and types the keys. False if the
// reader has ended.
bool type(int terminal, const std::string& keys) {
  std::string shown;
  char chunk[4096];
  while (shown != "> " && !shown.ends_with("\n> ")) {
    const ssize_t size = ::read(terminal, chunk, sizeof chunk);
    if (size <= 0) return false;
    shown.append(chunk, static_cast<std::size_t>(size));
  }
  while (!takes_keys(terminal)) ::sched_yield();
  return ::write(terminal, keys.data(), keys.size()) == static_cast<ssize_t>(keys.size());
}

// Returns what was read of lines whose keys are these.
std::string read_of(const std::vector<std::string>& lines, const fs::path& folder) {
  int terminal = -1;
  const pid_t child = ::forkpty(&terminal, nullptr, nullptr, nullptr);
  if (child == 0) read_lines(folder);
  for (const std::string& keys : lines) EXPECT_TRUE(type(terminal, keys + "\n"));
  EXPECT_TRUE(type(terminal, "\x04"));  // Ctrl-D
  EXPECT_FALSE(type(terminal, "no more"));
  ::close(terminal);
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  return read_file(folder / "lines").value_or("");
}

TEST(LineReader, ALineIsEditedAndComesAgain) {
  const test::ScratchFolder folder;
  EXPECT_EQ(read_of({"hellp\x7fo", "  ", std::string(kUp) + "!"}, folder.path()),
            "terminal\n[hello]\n[  ]\n[hello!]\n");
}

TEST(LineReader, TheHistoryIsKeptForTheUserAlone) {
  const test::ScratchFolder folder;
  read_of({"first", "second"}, folder.path());
  EXPECT_EQ(read_of({std::string(kUp) + kUp}, folder.path()), "terminal\n[first]\n");
  EXPECT_EQ(fs::status(folder / "kernelrl/history").permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
}

TEST(LineReader, WithoutAHomeThereIsNoHistoryButLines) {
  const test::ScratchFolder folder;
  ASSERT_TRUE(real_file_system().create(folder / "kernelrl"));  // where the folder would be
  EXPECT_EQ(read_of({"one"}, folder.path()), "terminal\n[one]\n");
}

}  // namespace
}  // namespace krl::cli
