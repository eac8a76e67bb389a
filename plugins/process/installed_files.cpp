#include "plugins/process/installed_files.hpp"

#include <dlfcn.h>

#include <kernelrl/values.hpp>
#include <utility>

namespace krl::process {
namespace fs = std::filesystem;

InstalledFiles::InstalledFiles(const void* symbol, std::string who) : who_(std::move(who)) {
  Dl_info self{};
  if (::dladdr(symbol, &self) == 0) {
    throw Failure(KRL_INTERNAL, who_ + " cannot determine its file");
  }
  plugin_ = existing(self.dli_fname);
  // lib/kernelrl/plugins, or libexec/kernelrl
  const fs::path folder = fs::path(plugin_).parent_path();
  prefix_ = folder / ".." / "..";
  if (folder.parent_path().filename() != "libexec") prefix_ /= "..";
}

std::string InstalledFiles::worker(const std::string& name) const {
  return existing(prefix_ / "libexec" / "kernelrl" / name);
}

std::string InstalledFiles::shared_folder(const std::string& name) const {
  return existing(prefix_ / "share" / "kernelrl" / name);
}

std::string InstalledFiles::wheels() const {
  return existing(prefix_ / "lib" / "kernelrl" / "python");
}

std::string InstalledFiles::existing(const fs::path& path) const {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  if (!error) return real.string();
  throw Failure(KRL_FAILED_PRECONDITION, who_ + ": missing file " +
                                             path.lexically_normal().string() +
                                             "; rebuild or reinstall kernelrl");
}

}  // namespace krl::process
