// A file's bytes as memory: read from disk on access, and cached by the system. For files of
// gigabytes that are read once. Thread-safe.
#pragma once

#include <filesystem>
#include <string_view>

namespace krl::policies {

class MappedFile {
 public:
  // Throws Failure as files::read_file() does. If the file is truncated, reading bytes that are
  // gone ends this process.
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::string_view bytes() const { return bytes_; }

 private:
  std::string_view bytes_;
};

}  // namespace krl::policies
