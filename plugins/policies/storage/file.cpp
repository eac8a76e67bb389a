#include "plugins/policies/storage/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <kernelrl/values.hpp>

namespace krl::policies {
namespace {

[[noreturn]] void fail(const char* what, const std::filesystem::path& path, int error) {
  krl_status code = KRL_INTERNAL;
  std::string advice;
  if (error == ENOSPC || error == EDQUOT) {
    code = KRL_RESOURCE_EXHAUSTED;
    advice = "; make room and try again";
  } else if (error == ENOENT) {
    code = KRL_NOT_FOUND;
  }
  throw Failure(code,
                std::string(what) + " " + path.string() + ": " + std::strerror(error) + advice);
}

// An open file; closed on every way out.
class Descriptor {
 public:
  Descriptor(const std::filesystem::path& path, int flags)
      : path_(path), descriptor_(::open(path.c_str(), flags | O_CLOEXEC, 0644)) {
    if (descriptor_ < 0) fail("cannot open", path_, errno);
  }
  ~Descriptor() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  void write(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail("cannot write", path_, errno);
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  // In one piece of memory of the right size: a model's file has gigabytes.
  std::string read_all() {
    struct stat status {};
    if (::fstat(descriptor_, &status) != 0) fail("cannot read", path_, errno);
    constexpr std::size_t kMore = 1 << 16;  // for what has no size, or grows meanwhile
    std::string bytes(static_cast<std::size_t>(status.st_size) + kMore, '\0');
    std::size_t size = 0;
    for (;;) {
      if (size == bytes.size()) bytes.resize(2 * size);
      const ssize_t got = ::read(descriptor_, bytes.data() + size, bytes.size() - size);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail("cannot read", path_, errno);
      if (got == 0) break;
      size += static_cast<std::size_t>(got);
    }
    bytes.resize(size);
    return bytes;
  }
  void sync() {
    if (::fsync(descriptor_) != 0) fail("cannot write", path_, errno);
  }
  // Some file systems report a full disk only here.
  void close() {
    const int descriptor = descriptor_;
    descriptor_ = -1;
    if (::close(descriptor) != 0) fail("cannot write", path_, errno);
  }

 private:
  std::filesystem::path path_;
  int descriptor_;
};

}  // namespace

void write_file(const std::filesystem::path& path, const std::vector<std::string_view>& parts) {
  Descriptor file(path, O_WRONLY | O_CREAT | O_TRUNC);
  for (const std::string_view part : parts) file.write(part);
  file.sync();
  file.close();
}

void sync_directory(const std::filesystem::path& directory) {
  Descriptor(directory, O_RDONLY | O_DIRECTORY).sync();
}

std::string read_file(const std::filesystem::path& path) {
  return Descriptor(path, O_RDONLY).read_all();
}

}  // namespace krl::policies
