#include "tests/plans/program.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <stdexcept>
#include <thread>

#include "core/base/file_system.hpp"

namespace krl::test {
using namespace core;
namespace {

constexpr std::chrono::milliseconds kPause{1};  // between two looks at a condition

// Child of a fork: only calls that are safe there.
[[noreturn]] void become(const char* folder, const char* output, char* const* words) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a test that runs out of time takes it along
  const int out = ::open(output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  const int in = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (out >= 0 && in >= 0 && ::dup2(in, 0) == 0 && ::dup2(out, 1) == 1 && ::dup2(out, 2) == 2 &&
      ::chdir(folder) == 0) {
    ::execv(words[0], words);
  }
  ::_exit(127);
}

}  // namespace

Program::Program(const std::vector<std::string>& words, const std::filesystem::path& folder) {
  static std::atomic<int> started{0};
  output_ = folder / ("output-" + std::to_string(++started));
  std::vector<std::string> all = {KERNELRL_BINARY_DIR "/bin/kernelrl"};
  all.insert(all.end(), words.begin(), words.end());
  std::vector<char*> pointers;
  for (std::string& word : all) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  id_ = ::fork();
  if (id_ == 0) become(folder.c_str(), output_.c_str(), pointers.data());
  if (id_ < 0) throw std::runtime_error("cannot start a process");
}

Program::~Program() {
  if (!running()) return;
  send(SIGKILL);
  wait();
}

bool Program::running() {
  if (!ended_) ended_ = ::waitpid(id_, &status_, WNOHANG) == id_;
  return !ended_;
}

bool Program::wait_until(const std::function<bool()>& condition) {
  while (!condition()) {
    if (!running()) return condition();
    std::this_thread::sleep_for(kPause);
  }
  return true;
}

std::string Program::output() const { return read_file(output_).value_or(""); }

void Program::send(int signal) const {
  if (!ended_) ::kill(id_, signal);
}

Ending Program::wait() {
  while (!ended_) ended_ = ::waitpid(id_, &status_, 0) == id_ || errno != EINTR;
  Ending ending;
  if (WIFEXITED(status_)) ending.exit_code = WEXITSTATUS(status_);
  if (WIFSIGNALED(status_)) ending.signal = WTERMSIG(status_);
  ending.output = output();
  return ending;
}

Ending run_program(const std::vector<std::string>& words, const std::filesystem::path& folder) {
  return Program(words, folder).wait();
}

}  // namespace krl::test
