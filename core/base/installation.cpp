#include "core/base/installation.hpp"

#include <system_error>

namespace krl {

std::filesystem::path installation_prefix() {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? std::filesystem::path() : program.parent_path().parent_path();
}

std::filesystem::path shared_files() { return installation_prefix() / "share/kernelrl"; }

}  // namespace krl
