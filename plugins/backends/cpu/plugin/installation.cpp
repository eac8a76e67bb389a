#include "plugins/backends/cpu/plugin/installation.hpp"

#include <dlfcn.h>

#include <filesystem>
#include <kernelrl/values.hpp>

namespace krl {
namespace {

namespace fs = std::filesystem;

std::string existing(const fs::path& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  if (error) {
    throw Failure(KRL_FAILED_PRECONDITION, "the cpu backend misses " +
                                               path.lexically_normal().string() +
                                               ": build or install kernelrl completely");
  }
  return real.string();
}

}  // namespace

Installation find_installation() {
  Dl_info self{};
  if (::dladdr(reinterpret_cast<const void*>(&find_installation), &self) == 0) {
    throw Failure(KRL_INTERNAL, "the cpu plugin does not know its own file");
  }
  const std::string plugin = existing(self.dli_fname);
  const fs::path prefix = fs::path(plugin).parent_path() / ".." / ".." / "..";
  const fs::path workers = prefix / "libexec" / "kernelrl";
  return {existing(workers / "kernelrl-sandbox"), existing(workers / "kernelrl-emulator"),
          existing(workers / "kernelrl-oracle"), existing(prefix / "share" / "kernelrl" / "cpu"),
          plugin};
}

}  // namespace krl
