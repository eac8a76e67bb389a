// A folder for files that nobody needs later: only this user may enter it. Removed with its contents
// on destruction, unless it was moved elsewhere. Header-only, C++17.
#pragma once

#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <kernelrl/values.hpp>
#include <string>

namespace krl {

class TemporaryFolder {
 public:
  // Creates NAME-XXXXXX, in $TMPDIR or /tmp unless `name` is an absolute path. Throws
  // Failure(KRL_UNAVAILABLE).
  explicit TemporaryFolder(const std::filesystem::path& name) {
    std::error_code error;
    const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
    std::string pattern = (parent / name).string() + "-XXXXXX";
    if (!error && ::mkdtemp(pattern.data()) != nullptr) {
      path_ = pattern;
      return;
    }
    const std::string why = error ? error.message() : std::strerror(errno);
    throw Failure(KRL_UNAVAILABLE,
                  "cannot create the folder " + pattern + ": " + why +
                      (name.is_absolute() ? "" : "; set TMPDIR to a writable folder"));
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace krl
