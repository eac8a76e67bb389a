#include "plugins/process/shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <kernelrl/values.hpp>
#include <utility>

namespace krl::process {
namespace {

[[noreturn]] void unavailable(const std::string& what) {
  throw Failure(KRL_UNAVAILABLE, what + ": " + std::strerror(errno));
}

// Shared memory keeps its size: a worker could otherwise take pages away that we read, or put new
// ones in their place.
void seal(int descriptor, int seals) {
  if (::fcntl(descriptor, F_ADD_SEALS, seals | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    unavailable("sealing a memory file");
  }
}

std::uint64_t file_size(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) unavailable("asking for the size of a memory file");
  return static_cast<std::uint64_t>(status.st_size);
}

}  // namespace

MemoryFile MemoryFile::create(const char* name) {
  Descriptor file(::memfd_create(name, MFD_CLOEXEC));
  if (!file) unavailable("creating a memory file");
  return MemoryFile(std::move(file));
}

MemoryFile MemoryFile::with(const char* name, std::string_view content) {
  MemoryFile file(Descriptor(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING)));
  if (!file.file_) unavailable("creating a memory file");
  for (std::size_t done = 0; done < content.size();) {
    const ssize_t n = ::pwrite(file.descriptor(), content.data() + done, content.size() - done,
                               static_cast<off_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) unavailable("filling a memory file");
    done += static_cast<std::size_t>(n);
  }
  seal(file.descriptor(), F_SEAL_WRITE);
  return file;
}

std::uint64_t MemoryFile::size() const { return file_size(file_.get()); }

std::string MemoryFile::read_end(std::uint64_t limit) const {
  const std::uint64_t all = size();
  return read(all - std::min(all, limit), limit);
}

std::string MemoryFile::read(std::uint64_t from, std::uint64_t limit) const {
  std::string content(std::min(size() - std::min(size(), from), limit), '\0');
  std::size_t done = 0;
  while (done < content.size()) {
    const ssize_t n = ::pread(file_.get(), content.data() + done, content.size() - done,
                              static_cast<off_t>(from + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    done += static_cast<std::size_t>(n);
  }
  content.resize(done);
  return content;
}

void MemoryFile::clear() {
  if (::ftruncate(file_.get(), 0) != 0 || ::lseek(file_.get(), 0, SEEK_SET) != 0) {
    unavailable("emptying a memory file");
  }
}

SharedMemory::SharedMemory(std::uint64_t bytes, const char* name)
    : file_(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
  if (!file_) unavailable("creating shared memory");
  if (::ftruncate(file_.get(), static_cast<off_t>(bytes)) != 0) {
    unavailable("growing shared memory to " + std::to_string(bytes) + " bytes");
  }
  seal(file_.get(), 0);
  map(bytes);
}

SharedMemory SharedMemory::adopt(Descriptor file) {
  SharedMemory memory;
  memory.file_ = std::move(file);
  memory.map(file_size(memory.file_.get()));
  return memory;
}

void SharedMemory::map(std::uint64_t bytes) {
  if (bytes == 0) return;
  void* start =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file_.get(), 0);
  if (start == MAP_FAILED) unavailable("mapping shared memory");
  memory_ = {static_cast<std::byte*>(start), bytes};
}

SharedMemory::~SharedMemory() {
  if (!memory_.empty()) ::munmap(memory_.data(), memory_.size());
}

}  // namespace krl::process
