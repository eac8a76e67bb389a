#include "core/plan/text_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace krl {
namespace {

constexpr std::size_t kMaxBytes = 1 << 20;

class Descriptor {
 public:
  // O_NONBLOCK: opening a pipe must not wait for a writer.
  explicit Descriptor(const char* path) : fd_(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

}  // namespace

tl::expected<std::string, std::string> read_text_file(const std::filesystem::path& file) {
  const std::string name = "'" + file.string() + "' ";
  const auto unreadable = [&name] {
    return tl::unexpected("cannot read " + name + "(" + std::strerror(errno) + ")");
  };
  if (file.native().find('\0') != std::string::npos) {
    return tl::unexpected(name + "is no file name: it holds a zero byte");
  }
  const Descriptor descriptor(file.c_str());
  struct stat status = {};
  if (descriptor.get() < 0 || fstat(descriptor.get(), &status) != 0) return unreadable();
  if (S_ISDIR(status.st_mode)) return tl::unexpected(name + "is a folder, not a file");
  if (!S_ISREG(status.st_mode)) return tl::unexpected(name + "is not a regular file");

  std::string text;
  std::array<char, 16384> block;
  for (;;) {
    const ssize_t n = read(descriptor.get(), block.data(), block.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return unreadable();
    if (n == 0) return text;
    text.append(block.data(), static_cast<std::size_t>(n));
    if (text.size() > kMaxBytes) return tl::unexpected(name + "is larger than 1 MiB");
  }
}

}  // namespace krl
