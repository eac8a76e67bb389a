#include "plugins/backends/evaluator/sandbox/allowed_calls.hpp"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <vector>

#include "plugins/backends/evaluator/sandbox/restrictions.hpp"

namespace krl::sandbox {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
#error "the architecture's number in linux/audit.h is needed"
#endif

constexpr std::uint32_t kRefuse = SECCOMP_RET_ERRNO | EPERM;

sock_filter statement(std::uint16_t code, std::uint32_t k) { return {code, 0, 0, k}; }
sock_filter load(std::size_t offset) {
  return statement(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
}
sock_filter skip_unless_equal(std::uint32_t value, std::uint8_t statements) {
  return {BPF_JMP | BPF_JEQ | BPF_K, 0, statements, value};
}

// The lower half comes first: both architectures are little-endian.
std::size_t offset_of_argument(int argument) {
  return offsetof(seccomp_data, args) + sizeof(std::uint64_t) * static_cast<std::size_t>(argument);
}

void add(const AllowedCall& call, std::vector<sock_filter>* program) {
  const auto number = static_cast<std::uint32_t>(call.number);
  const sock_filter allow = statement(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  if (call.argument < 0) {
    program->insert(program->end(), {skip_unless_equal(number, 1), allow});
    return;
  }
  program->insert(
      program->end(),
      {skip_unless_equal(number, 5), load(offset_of_argument(call.argument)),
       statement(BPF_ALU | BPF_AND | BPF_K, call.mask),
       skip_unless_equal(call.value & call.mask, 1), allow, load(offsetof(seccomp_data, nr))});
}

// None may become executable.
constexpr std::uint32_t kExecutable = PROT_EXEC;

}  // namespace

std::string allow_only(std::span<const AllowedCall> calls) {
  // Calls of x32 have separate numbers, none of which is on a list.
  std::vector<sock_filter> program = {load(offsetof(seccomp_data, arch)),
                                      {BPF_JMP | BPF_JEQ | BPF_K, 1, 0, kArchitecture},
                                      statement(BPF_RET | BPF_K, kRefuse),
                                      load(offsetof(seccomp_data, nr))};
  for (const AllowedCall& call : calls) add(call, &program);
  program.push_back(statement(BPF_RET | BPF_K, kRefuse));
  const sock_fprog filter{static_cast<std::uint16_t>(program.size()), program.data()};
  return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0 ? "" : reason();
}

std::vector<AllowedCall> computing_calls() {
  return {{SYS_read},
          {SYS_write},
          {SYS_pread64},
          {SYS_pwrite64},
          {SYS_writev},
          {SYS_lseek},
          {SYS_close},
          {SYS_fstat},
          {SYS_munmap},
          {SYS_mremap},
          {SYS_madvise},
          {SYS_brk},
          {SYS_futex},
          {SYS_rt_sigaction},
          {SYS_rt_sigprocmask},
          {SYS_rt_sigreturn},
          {SYS_sigaltstack},
          {SYS_clock_gettime},
          {SYS_getrusage},
          {SYS_getpid},
          {SYS_gettid},
          {SYS_getrandom},
          {SYS_restart_syscall},
          {SYS_exit},
          {SYS_exit_group},
          {SYS_mmap, 2, kExecutable, 0},
          {SYS_mprotect, 2, kExecutable, 0}};
}

}  // namespace krl::sandbox
