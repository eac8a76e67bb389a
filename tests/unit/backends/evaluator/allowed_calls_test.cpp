// The last filter, in children that put it on themselves.
#include "plugins/backends/evaluator/sandbox/allowed_calls.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>

namespace krl::sandbox {
namespace {

// Whether `attempt`, in a child with the filter, gives true.
bool works(const std::function<bool()>& attempt, const std::vector<AllowedCall>& more = {}) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::vector<AllowedCall> calls = computing_calls();
    calls.insert(calls.end(), more.begin(), more.end());
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (!allow_only(calls).empty()) ::_exit(2);
    ::_exit(attempt() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) != 2) << "status " << status;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool refused(long result) { return result < 0 && errno == EPERM; }

void* pages(int protection) {
  return ::mmap(nullptr, 1 << 16, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

TEST(AllowedCallsTest, LeaveWhatComputingTakes) {
  EXPECT_TRUE(works([] {
    const auto memory = static_cast<char*>(pages(PROT_READ | PROT_WRITE));
    memory[0] = 1;
    int ends[2];
    return ::mprotect(memory, 4096, PROT_READ) == 0 && ::munmap(memory, 1 << 16) == 0 &&
           ::write(STDERR_FILENO, "", 0) == 0 && refused(::pipe(ends));
  }));
}

TEST(AllowedCallsTest, RefuseEverythingElse) {
  EXPECT_TRUE(works([] { return refused(::open("/etc/passwd", O_RDONLY)); }));
  EXPECT_TRUE(works([] { return refused(::socket(AF_UNIX, SOCK_STREAM, 0)); }));
  EXPECT_TRUE(works([] { return refused(::fork()); }));
  EXPECT_TRUE(works([] { return refused(::kill(::getpid(), SIGKILL)); }));
  EXPECT_TRUE(
      works([] { return refused(::syscall(SYS_tgkill, ::getpid(), ::gettid(), SIGKILL)); }));
  EXPECT_TRUE(works([] { return refused(::ftruncate(STDERR_FILENO, 0)); }));
  EXPECT_TRUE(works([] { return refused(::fcntl(STDERR_FILENO, F_SETOWN, ::getpid())); }));
}

TEST(AllowedCallsTest, RefuseCodeThatWasNotThere) {
  EXPECT_TRUE(works([] { return pages(PROT_READ | PROT_EXEC) == MAP_FAILED && errno == EPERM; }));
  EXPECT_TRUE(works([] {
    return refused(::mprotect(pages(PROT_READ | PROT_WRITE), 4096, PROT_READ | PROT_EXEC));
  }));
}

TEST(AllowedCallsTest, LookAtOneArgument) {
  const std::vector<AllowedCall> reading = {{SYS_openat, 2, O_ACCMODE | O_CREAT, O_RDONLY}};
  EXPECT_TRUE(works([] { return ::open("/dev/null", O_RDONLY) >= 0; }, reading));
  EXPECT_TRUE(works([] { return refused(::open("/dev/null", O_RDWR)); }, reading));
  EXPECT_TRUE(works([] { return refused(::open("/tmp/x", O_RDONLY | O_CREAT, 0600)); }, reading));
}

}  // namespace
}  // namespace krl::sandbox
