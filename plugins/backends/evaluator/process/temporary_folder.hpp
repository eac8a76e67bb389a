// A folder for the files of programs that we start: only this user may enter it. Removed with its
// contents on destruction.
#pragma once

#include <filesystem>
#include <string>

namespace krl::evaluator {

class TemporaryFolder {
 public:
  // Creates kernelrl-NAME-XXXXXX in $TMPDIR or /tmp. Throws Failure(KRL_UNAVAILABLE).
  explicit TemporaryFolder(const std::string& name);
  TemporaryFolder(const TemporaryFolder&) = delete;
  ~TemporaryFolder();

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace krl::evaluator
