#include "plugins/files/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <kernelrl/values.hpp>
#include <optional>

#include "plugins/files/descriptor.hpp"

namespace krl::files {
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

Descriptor try_open(const std::filesystem::path& path, int flags) {
  return Descriptor(::open(path.c_str(), flags | O_CLOEXEC, 0644));
}

Descriptor open(const std::filesystem::path& path, int flags) {
  Descriptor file = try_open(path, flags);
  if (!file) fail("cannot open", path, errno);
  return file;
}

void write(const Descriptor& file, std::string_view bytes, const std::filesystem::path& path) {
  if (!write_all(file.get(), bytes)) fail("cannot write", path, errno);
}

void sync(const Descriptor& file, const std::filesystem::path& path) {
  if (::fsync(file.get()) != 0) fail("cannot write", path, errno);
}

// Everything that is left to read, or nothing with errno set. In one piece of memory of the right
// size: a model's file has gigabytes.
std::optional<std::string> read_rest(const Descriptor& file) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return std::nullopt;
  constexpr std::size_t kMore = 4096;  // for what has no size, or grows meanwhile
  std::string bytes(static_cast<std::size_t>(status.st_size) + kMore, '\0');
  std::size_t size = 0;
  for (;;) {
    if (size == bytes.size()) bytes.resize(2 * size);
    const ssize_t got = ::read(file.get(), bytes.data() + size, bytes.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  bytes.resize(size);
  return bytes;
}

}  // namespace

void write_file(const std::filesystem::path& path, const std::vector<std::string_view>& parts) {
  Descriptor file = open(path, O_WRONLY | O_CREAT | O_TRUNC);
  for (const std::string_view part : parts) write(file, part, path);
  sync(file, path);
  // Some file systems report a full disk only here.
  if (::close(file.release()) != 0) fail("cannot write", path, errno);
}

void sync_directory(const std::filesystem::path& directory) {
  sync(open(directory, O_RDONLY | O_DIRECTORY), directory);
}

std::string read_file(const std::filesystem::path& path) {
  const Descriptor file = open(path, O_RDONLY);
  std::optional<std::string> bytes = read_rest(file);
  if (!bytes) fail("cannot read", path, errno);
  return *std::move(bytes);
}

std::string read_file_or_empty(const std::filesystem::path& path) {
  const Descriptor file = try_open(path, O_RDONLY);
  return file ? read_rest(file).value_or("") : "";
}

}  // namespace krl::files
