#include "plugins/policies/storage/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <kernelrl/values.hpp>

namespace krl::policies {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, int error) {
  throw Failure(error == ENOENT ? KRL_NOT_FOUND : KRL_INTERNAL,
                "cannot read " + path.string() + ": " + std::strerror(error));
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) fail(path, errno);
  struct stat status {};
  const int known = ::fstat(descriptor, &status);
  const auto size = static_cast<std::size_t>(status.st_size);
  void* at = nullptr;
  int error = known == 0 ? 0 : errno;
  if (error == 0 && size > 0) {
    at = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (at == MAP_FAILED) error = errno;
  }
  ::close(descriptor);
  if (error != 0) fail(path, error);
  bytes_ = {static_cast<const char*>(at), size};
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

}  // namespace krl::policies
