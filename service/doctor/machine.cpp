#include "service/doctor/machine.hpp"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "core/plugin/library.hpp"

namespace krl::service {
namespace {

namespace fs = std::filesystem;

MachineFeature host_compiler() {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path program = fs::path(folder) / "g++";
    if (::access(program.c_str(), X_OK) == 0) return {"g++", program, {}};
  }
  return {"g++", {}, "not in PATH: apt-get install g++"};
}

// The only way to find out if a process may enter one is to try.
MachineFeature user_namespaces() {
  constexpr std::chrono::seconds kLimit{5};
  const auto end = core::run_in_child(
      [] { return std::string(::unshare(CLONE_NEWUSER) == 0 ? "" : std::strerror(errno)); },
      kLimit);
  if (!end || !end->report) return {"user namespaces", {}, "could not be tested"};
  if (end->report->empty()) return {"user namespaces", "available", {}};
  return {"user namespaces",
          {},
          *end->report +
              ": sysctl kernel.unprivileged_userns_clone=1 and user.max_user_namespaces=10000, or "
              "the container's seccomp profile"};
}

MachineFeature landlock() {
  constexpr unsigned kAskVersion = 1;
  const long version = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, kAskVersion);
  if (version > 0) return {"landlock", "version " + std::to_string(version), {}};
  return {"landlock",
          {},
          std::string(std::strerror(errno)) +
              ": needs Linux 5.13 or newer, with landlock in /sys/kernel/security/lsm"};
}

MachineFeature seccomp() {
  if (::prctl(PR_GET_SECCOMP) >= 0) return {"seccomp", "in the kernel", {}};
  return {"seccomp", {}, "needs a kernel built with CONFIG_SECCOMP_FILTER"};
}

}  // namespace

std::vector<MachineFeature> machine_features() {
  return {host_compiler(), user_namespaces(), landlock(), seccomp()};
}

}  // namespace krl::service
