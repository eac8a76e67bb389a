#include <asm/ioctls.h>
#include <asm/sockios.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>

#include "plugins/backends/evaluator/sandbox/restrictions.hpp"

namespace krl::sandbox {
namespace {

// Calls that no worker needs: by name, as not every kernel and architecture has each.
constexpr const char* kSockets[] = {"socket",  "socketpair", "connect", "bind",
                                    "listen",  "accept",     "accept4", "sendto",
                                    "sendmsg", "sendmmsg",   "recvmsg", "recvmmsg"};
constexpr const char* kForbidden[] = {
    // ways to talk to others
    "mq_open", "mq_unlink", "msgget", "msgsnd", "msgctl", "semget", "semop", "semctl", "shmget",
    "shmat", "shmctl", "io_uring_setup", "io_uring_enter", "io_uring_register",
    // other processes
    "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "pidfd_open",
    "pidfd_getfd", "pidfd_send_signal", "kill", "tkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo",
    "kcmp", "setpgid", "setsid", "setpriority", "ioprio_set", "sched_setaffinity", "sched_setattr",
    "sched_setscheduler", "sched_setparam", "migrate_pages", "move_pages",
    // calls on files by their path that Landlock does not cover, or only on newer kernels
    "chmod", "fchmod", "fchmodat", "chown", "lchown", "fchown", "fchownat", "setxattr", "lsetxattr",
    "fsetxattr", "removexattr", "lremovexattr", "fremovexattr", "utime", "utimes", "utimensat",
    "futimesat", "truncate", "mknod", "mknodat", "link", "linkat", "symlink", "symlinkat", "rename",
    "renameat", "renameat2", "mkdir", "mkdirat", "rmdir", "name_to_handle_at", "open_by_handle_at",
    "fanotify_init", "inotify_init", "inotify_init1",
    // the machine
    "mount", "umount2", "pivot_root", "chroot", "move_mount", "open_tree", "fsopen", "fsmount",
    "fsconfig", "fspick", "mount_setattr", "setns", "unshare", "bpf", "perf_event_open", "keyctl",
    "add_key", "request_key", "init_module", "finit_module", "delete_module", "kexec_load",
    "kexec_file_load", "reboot", "swapon", "swapoff", "sethostname", "setdomainname", "acct",
    "quotactl", "syslog", "settimeofday", "clock_settime", "clock_adjtime", "adjtimex", "iopl",
    "ioperm", "modify_ldt", "personality", "userfaultfd", "nfsservctl", "vhangup", "lookup_dcookie",
    "setuid", "setgid", "setreuid", "setregid", "setresuid", "setresgid", "setgroups", "setfsuid",
    "setfsgid", "capset"};

constexpr std::uint32_t kRefuse = SCMP_ACT_ERRNO(EPERM);

bool forbid(scmp_filter_ctx filter, const char* name) {
  const int number = seccomp_syscall_resolve_name(name);
  return number == __NR_SCMP_ERROR || number < 0 ||
         seccomp_rule_add(filter, kRefuse, number, 0) == 0;
}

// clone may make threads but no processes; clone3 hides its flags in memory, so that the C library
// has to fall back to clone.
bool forbid_forks(scmp_filter_ctx filter) {
  return forbid(filter, "fork") && forbid(filter, "vfork") &&
         seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0) == 0 &&
         seccomp_rule_add(filter, kRefuse, SCMP_SYS(clone), 1,
                          SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0)) == 0;
}

bool forbid_programs(scmp_filter_ctx filter, int except) {
  return forbid(filter, "execve") &&
         seccomp_rule_add(filter, kRefuse, SCMP_SYS(execveat), 1,
                          SCMP_A0_32(SCMP_CMP_NE, static_cast<std::uint32_t>(except))) == 0;
}

// A process that has set itself to die with its parent cannot undo that.
bool forbid_to_survive(scmp_filter_ctx filter) {
  return seccomp_rule_add(filter, kRefuse, SCMP_SYS(prctl), 1,
                          SCMP_A0_32(SCMP_CMP_EQ, PR_SET_PDEATHSIG)) == 0;
}

// A descriptor with an owner sends that process a signal of the caller's choice.
bool forbid_owners(scmp_filter_ctx filter) {
  constexpr std::uint32_t kCommands[] = {F_SETOWN, F_SETOWN_EX, F_SETSIG};
  constexpr std::uint32_t kRequests[] = {FIOSETOWN, SIOCSPGRP};
  const auto refuse = [&](int call, std::uint32_t what) {
    return seccomp_rule_add(filter, kRefuse, call, 1, SCMP_A1_32(SCMP_CMP_EQ, what)) == 0;
  };
  return std::all_of(std::begin(kCommands), std::end(kCommands),
                     [&](std::uint32_t command) { return refuse(SCMP_SYS(fcntl), command); }) &&
         std::all_of(std::begin(kRequests), std::end(kRequests),
                     [&](std::uint32_t request) { return refuse(SCMP_SYS(ioctl), request); });
}

// Forbids memory that no limit of the process counts, and changing the sizes of shared files.
bool forbid_memory_files(scmp_filter_ctx filter) {
  return forbid(filter, "memfd_create") && forbid(filter, "ftruncate") &&
         forbid(filter, "fallocate");
}

bool forbid_sockets(scmp_filter_ctx filter) {
  return std::all_of(std::begin(kSockets), std::end(kSockets),
                     [&](const char* name) { return forbid(filter, name); });
}

bool forbid_networks(scmp_filter_ctx filter) {
  return seccomp_rule_add(filter, kRefuse, SCMP_SYS(socket), 1, SCMP_A0_32(SCMP_CMP_NE, AF_UNIX)) ==
         0;
}

bool add_rules(scmp_filter_ctx filter, const CallRules& rules) {
  if (!(rules.local_sockets ? forbid_networks(filter) : forbid_sockets(filter))) return false;
  for (const char* name : kForbidden) {
    if (!forbid(filter, name)) return false;
  }
  if (!forbid_owners(filter)) return false;
  if (!rules.children && !rules.local_sockets && !forbid_memory_files(filter)) return false;
  // A process may signal its own threads (abort does) and ask for its own limits.
  const auto self = static_cast<std::uint32_t>(::getpid());
  if (!rules.children && !rules.forks &&
      seccomp_rule_add(filter, kRefuse, SCMP_SYS(tgkill), 1, SCMP_A0_32(SCMP_CMP_NE, self)) != 0) {
    return false;
  }
  if (seccomp_rule_add(filter, kRefuse, SCMP_SYS(prlimit64), 1, SCMP_A0_32(SCMP_CMP_NE, 0)) != 0) {
    return false;
  }
  if (rules.children) return true;
  if (!forbid_programs(filter, rules.program)) return false;
  return rules.forks || (forbid_forks(filter) && forbid_to_survive(filter));
}

}  // namespace

std::string filter_system_calls(const CallRules& rules) {
  const scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
  if (filter == nullptr) return "cannot initialise libseccomp";
  std::string why;
  if (!add_rules(filter, rules)) why = "libseccomp rejected a rule";
  if (why.empty()) {
    const int error = seccomp_load(filter);
    if (error != 0) why = std::strerror(-error);
  }
  seccomp_release(filter);
  return why;
}

}  // namespace krl::sandbox
