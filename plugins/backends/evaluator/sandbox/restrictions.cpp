#include "plugins/backends/evaluator/sandbox/restrictions.hpp"

#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace krl::sandbox {
namespace {

bool set_limit(__rlimit_resource resource, std::uint64_t soft, std::uint64_t hard) {
  rlimit current{};
  if (::getrlimit(resource, &current) != 0) return false;
  const auto bounded = [&](std::uint64_t value) {
    return current.rlim_max == RLIM_INFINITY || value < current.rlim_max
               ? static_cast<rlim_t>(value)
               : current.rlim_max;
  };
  const rlimit wanted{bounded(soft), bounded(hard)};
  return ::setrlimit(resource, &wanted) == 0;
}

}  // namespace

std::string limit_resources(const ResourceLimits& limits) {
  const bool all = set_limit(RLIMIT_AS, limits.address_space_bytes, limits.address_space_bytes) &&
                   set_limit(RLIMIT_DATA, limits.data_bytes, limits.data_bytes) &&
                   set_limit(RLIMIT_FSIZE, limits.file_bytes, limits.file_bytes) &&
                   set_limit(RLIMIT_CPU, limits.cpu_seconds, limits.cpu_seconds + 1) &&
                   set_limit(RLIMIT_NOFILE, limits.open_files, limits.open_files) &&
                   set_limit(RLIMIT_NPROC, limits.processes, limits.processes) &&
                   set_limit(RLIMIT_CORE, 0, 0) && set_limit(RLIMIT_MEMLOCK, 0, 0) &&
                   set_limit(RLIMIT_MSGQUEUE, 0, 0);
  return all ? "" : reason();
}

std::string limit_processors(std::uint64_t share) {
  cpu_set_t all, kept;
  CPU_ZERO(&kept);
  if (::sched_getaffinity(0, sizeof all, &all) != 0) return reason();
  const auto count = static_cast<std::uint64_t>(CPU_COUNT(&all));
  std::uint64_t left = std::max<std::uint64_t>(count / std::max<std::uint64_t>(share, 1), 2);
  for (int processor = CPU_SETSIZE - 1; processor >= 0 && left > 0; --processor) {
    if (!CPU_ISSET(processor, &all)) continue;
    CPU_SET(processor, &kept);
    --left;
  }
  return ::sched_setaffinity(0, sizeof kept, &kept) == 0 ? "" : reason();
}

std::string die_with_parent() { return ::prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 ? "" : reason(); }

std::string forbid_privileges() {
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 ? "" : reason();
}

std::string drop_capabilities() {
  for (unsigned long capability = 0; capability <= CAP_LAST_CAP; ++capability) {
    const bool known = ::prctl(PR_CAPBSET_READ, capability) >= 0;
    if (known && ::prctl(PR_CAPBSET_READ, capability) == 1 &&
        ::prctl(PR_CAPBSET_DROP, capability) != 0 && errno != EPERM) {
      return reason();
    }
  }
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct none[2] = {};
  return ::syscall(SYS_capset, &header, none) == 0 ? "" : reason();
}

std::string enter_namespaces() {
  return ::unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWIPC) == 0 ? "" : reason();
}

}  // namespace krl::sandbox
