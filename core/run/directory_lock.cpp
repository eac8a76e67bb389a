#include "core/run/directory_lock.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <string>
#include <utility>

#include "core/base/file_system.hpp"

namespace krl {

namespace {

// The whole file. Open-file-description locks (Linux 3.15): they belong to the open file, not to
// the process, so two owners within one process exclude each other too, and F_OFD_GETLK asks
// without taking.
struct flock whole_file() {
  struct flock region {};
  region.l_type = F_WRLCK;
  region.l_whence = SEEK_SET;
  return region;
}

pid_t read_owner(int descriptor) {
  char text[32];
  const ssize_t length = ::pread(descriptor, text, sizeof text, 0);
  pid_t owner = 0;
  if (length > 0) std::from_chars(text, text + length, owner);
  return owner;
}

Status write_owner(int descriptor, const std::filesystem::path& lock_file) {
  const std::string text = std::to_string(::getpid()) + "\n";
  if (::ftruncate(descriptor, 0) != 0 ||
      ::pwrite(descriptor, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
    return failure(file_error("write", lock_file, errno));
  return {};
}

Error in_use(const std::filesystem::path& lock_file, pid_t owner) {
  const std::string directory = lock_file.parent_path().string();
  const std::string who = owner > 0 ? "process " + std::to_string(owner) : "another process";
  return {Code::kFailedPrecondition,
          directory + " is in use by " + who + "; wait for it, stop it with 'kernelrl runs stop " +
              lock_file.parent_path().filename().string() + "', or choose another run.name"};
}

}  // namespace

Result<DirectoryLock> DirectoryLock::acquire(const std::filesystem::path& lock_file) {
  const int descriptor = ::open(lock_file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0) return failure(file_error("write", lock_file, errno));
  DirectoryLock lock(descriptor);
  struct flock region = whole_file();
  if (::fcntl(descriptor, F_OFD_SETLK, &region) != 0) {
    if (errno == EAGAIN || errno == EACCES)
      return failure(in_use(lock_file, read_owner(descriptor)));
    return failure(file_error("lock", lock_file, errno));
  }
  KRL_TRY(write_owner(descriptor, lock_file));
  return lock;
}

DirectoryLock::DirectoryLock(DirectoryLock&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

DirectoryLock::~DirectoryLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::optional<pid_t> lock_owner(const std::filesystem::path& lock_file) {
  const int descriptor = ::open(lock_file.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return std::nullopt;
  struct flock region = whole_file();
  std::optional<pid_t> owner;
  if (::fcntl(descriptor, F_OFD_GETLK, &region) == 0 && region.l_type != F_UNLCK)
    owner = read_owner(descriptor);
  ::close(descriptor);
  return owner;
}

}  // namespace krl
