#include "plugins/backends/evaluator/sandbox/private_folder.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "plugins/backends/evaluator/sandbox/restrictions.hpp"

namespace krl::sandbox {
namespace {

// The file system's descriptor, or -1.
int mount_in_memory(std::uint64_t bytes) {
  const int context = ::fsopen("tmpfs", FSOPEN_CLOEXEC);
  if (context < 0) return -1;
  const std::string size = std::to_string(bytes);
  const bool made = ::fsconfig(context, FSCONFIG_SET_STRING, "size", size.c_str(), 0) == 0 &&
                    ::fsconfig(context, FSCONFIG_SET_STRING, "mode", "0700", 0) == 0 &&
                    ::fsconfig(context, FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) == 0;
  const int mounted = made ? ::fsmount(context, FSMOUNT_CLOEXEC,
                                       MOUNT_ATTR_NODEV | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC)
                           : -1;
  ::close(context);
  return mounted;
}

bool write_text(const char* path, const std::string& text) {
  const int file = ::open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool written = ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  ::close(file);
  return written;
}

// A user namespace in which this user may mount. Files need an owner, so this user stays itself.
bool become_mounter() {
  const std::string user = std::to_string(::getuid()), group = std::to_string(::getgid());
  return ::unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 &&
         write_text("/proc/self/setgroups", "deny") &&
         write_text("/proc/self/uid_map", user + " " + user + " 1") &&
         write_text("/proc/self/gid_map", group + " " + group + " 1");
}

// Everything that is started from here on inherits the other end of `lifeline` and so keeps it
// open.
[[noreturn]] void remove_when_all_have_ended(const std::string& folder, int lifeline) {
  ::dup2(lifeline, STDIN_FILENO);
  ::close_range(STDIN_FILENO + 1, ~0u, 0);
  char nothing = 0;
  while (::read(STDIN_FILENO, &nothing, 1) < 0 && errno == EINTR) {
  }
  std::error_code error;
  std::filesystem::remove_all(folder, error);
  ::_exit(0);
}

std::string new_name() {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number) number = ::getpid();
  return "/kernelrl-" + std::to_string(number);
}

}  // namespace

std::string enter_folder_in_memory(std::uint64_t bytes) {
  int folder = mount_in_memory(bytes);
  if (folder < 0 && become_mounter()) folder = mount_in_memory(bytes);
  if (folder < 0) return reason();
  const std::string why = ::fchdir(folder) == 0 ? "" : reason();
  ::close(folder);
  return why;
}

std::string enter_folder_on_disk(const std::string& parent) {
  const std::string folder = parent + new_name();
  int lifeline[2];
  if (::pipe(lifeline) != 0) return reason();
  const pid_t remover = ::fork();
  if (remover < 0) return reason();
  if (remover == 0) remove_when_all_have_ended(folder, lifeline[0]);
  // Killing this process's group must not kill the remover. There is no folder yet before this
  // point.
  ::setpgid(remover, remover);
  ::close(lifeline[0]);
  const bool entered = ::mkdir(folder.c_str(), 0700) == 0 && ::chdir(folder.c_str()) == 0;
  return entered ? "" : folder + ": " + reason();
}

}  // namespace krl::sandbox
