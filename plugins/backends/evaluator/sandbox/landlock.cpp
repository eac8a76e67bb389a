// Landlock by its system calls: Debian 12's header stops at the second version of its interface.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "plugins/backends/evaluator/sandbox/restrictions.hpp"

namespace krl::sandbox {
namespace {

// These constants are taken from linux/landlock.h of Linux 6.12, interface version 6.
constexpr std::uint64_t kExecute = 1u << 0, kWriteFile = 1u << 1, kReadFile = 1u << 2;
constexpr std::uint64_t kReadFolder = 1u << 3, kRemoveFile = 1u << 5, kMakeFile = 1u << 8;
constexpr std::uint64_t kVersion1Rights = (1u << 13) - 1;
constexpr std::uint64_t kRefer = 1u << 13, kTruncate = 1u << 14, kDeviceControl = 1u << 15;
constexpr std::uint64_t kBindTcp = 1u << 0, kConnectTcp = 1u << 1;
constexpr std::uint64_t kAbstractSockets = 1u << 0, kSignals = 1u << 1;
constexpr int kRuleOfPath = 1;
constexpr unsigned kAskVersion = 1;

struct Ruleset {
  std::uint64_t files, network, scopes;
};
struct __attribute__((packed)) PathRule {
  std::uint64_t allowed;
  std::int32_t folder;
};

// The rights of a rule must fit its object: a file cannot be listed. A path that does not exist
// needs no rule.
bool allow(int ruleset, const std::string& path, std::uint64_t rights) {
  const int place = ::open(path.c_str(), O_PATH | O_CLOEXEC);
  if (place < 0) return true;
  struct stat status {};
  ::fstat(place, &status);
  if (!S_ISDIR(status.st_mode)) rights &= ~kReadFolder;
  const PathRule rule{rights, place};
  const bool added = ::syscall(SYS_landlock_add_rule, ruleset, kRuleOfPath, &rule, 0) == 0;
  ::close(place);
  return added;
}

}  // namespace

std::vector<std::string> gpu_devices() {
  std::vector<std::string> devices = {"/dev/dxg"};  // the Windows subsystem for Linux
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/dev", error)) {
    if (entry.path().filename().string().rfind("nvidia", 0) != 0) continue;
    if (!entry.is_directory(error)) devices.push_back(entry.path());
    if (!entry.is_directory(error)) continue;
    for (const auto& inner : std::filesystem::directory_iterator(entry.path(), error)) {
      devices.push_back(inner.path());
    }
  }
  return devices;
}

std::string restrict_files(const FileRules& wanted, int* abi) {
  const long version = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, kAskVersion);
  *abi = static_cast<int>(version);
  if (version < 1) return "not supported by this kernel (" + reason() + ")";
  Ruleset rules{kVersion1Rights, 0, 0};
  if (version >= 2) rules.files |= kRefer;
  if (version >= 3) rules.files |= kTruncate;
  if (version >= 4) rules.network = kBindTcp | kConnectTcp;
  if (version >= 5) rules.files |= kDeviceControl;
  if (version >= 6) rules.scopes = kAbstractSockets | kSignals;
  const std::size_t known = version >= 6 ? 24 : version >= 4 ? 16 : 8;
  const int ruleset = static_cast<int>(::syscall(SYS_landlock_create_ruleset, &rules, known, 0));
  if (ruleset < 0) return reason();
  bool all = true;
  constexpr std::uint64_t kControl = kReadFile | kWriteFile | kTruncate | kDeviceControl;
  for (const std::string& path : wanted.readable) {
    all &= allow(ruleset, path, kReadFile | kReadFolder);
  }
  for (const std::string& path : wanted.executable)
    all &= allow(ruleset, path, kReadFile | kExecute);
  for (const std::string& path : wanted.controlled) {
    all &= allow(ruleset, path, kControl & rules.files);
  }
  if (!wanted.writable.empty()) {
    constexpr std::uint64_t kAll =
        kReadFile | kReadFolder | kWriteFile | kMakeFile | kRemoveFile | kTruncate;
    all &= allow(ruleset, wanted.writable, kAll & rules.files);
  }
  all = all && ::syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
  const std::string why = all ? "" : reason();
  ::close(ruleset);
  return why;
}

}  // namespace krl::sandbox
