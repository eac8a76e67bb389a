// Memory shared by two processes. No thread safety beyond that of the kernel; a moved-from object
// owns nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "plugins/files/descriptor.hpp"

namespace krl::process {

using files::Descriptor;  // every descriptor of the evaluator is close-on-exec

// An anonymous file in memory (memfd): the standard streams, modules and arenas of workers. It
// vanishes with its last descriptor, so that nothing is left behind by a crash.
class MemoryFile {
 public:
  // Throws Failure(KRL_UNAVAILABLE) if the system has no descriptor or memory left.
  static MemoryFile create(const char* name);
  // A process that receives the descriptor can change neither content nor size.
  static MemoryFile with(const char* name, std::string_view content);

  int descriptor() const { return file_.get(); }
  std::uint64_t size() const;
  // The first `limit` bytes, and the last.
  std::string read(std::uint64_t limit) const { return read(0, limit); }
  std::string read_end(std::uint64_t limit) const;
  // Empties it; processes that share its descriptor write at its beginning again.
  void clear();

 private:
  explicit MemoryFile(Descriptor file) : file_(std::move(file)) {}
  std::string read(std::uint64_t from, std::uint64_t limit) const;
  Descriptor file_;
};

// A MemoryFile of a size that no one can change, mapped for reading and writing. Zero at first.
class SharedMemory {
 public:
  SharedMemory() = default;
  explicit SharedMemory(std::uint64_t bytes, const char* name = "krl-shared");
  // Maps what another process made and sent; its size is taken from the file.
  static SharedMemory adopt(Descriptor file);
  SharedMemory(SharedMemory&& other) noexcept
      : file_(std::move(other.file_)), memory_(std::exchange(other.memory_, {})) {}
  SharedMemory& operator=(SharedMemory&& other) noexcept {
    std::swap(file_, other.file_);
    std::swap(memory_, other.memory_);
    return *this;
  }
  ~SharedMemory();

  int descriptor() const { return file_.get(); }
  std::span<std::byte> bytes() const { return memory_; }

 private:
  void map(std::uint64_t bytes);
  Descriptor file_;
  std::span<std::byte> memory_;
};

}  // namespace krl::process
