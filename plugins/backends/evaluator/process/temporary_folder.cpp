#include "plugins/backends/evaluator/process/temporary_folder.hpp"

#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <kernelrl/values.hpp>

namespace krl::evaluator {

namespace fs = std::filesystem;

TemporaryFolder::TemporaryFolder(const std::string& name) {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  std::string pattern = (parent / ("kernelrl-" + name + "-XXXXXX")).string();
  if (error || ::mkdtemp(pattern.data()) == nullptr) {
    throw Failure(KRL_UNAVAILABLE, "cannot create the temporary folder " + pattern + ": " +
                                       (error ? error.message() : std::strerror(errno)) +
                                       "; set TMPDIR to a writable folder");
  }
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code error;
  fs::remove_all(path_, error);
}

}  // namespace krl::evaluator
