// The workers and data files of a plugin or a worker: fixed paths relative to its own file, the same
// in the build tree and under an installation prefix. Pure, except for the file system.
#pragma once

#include <filesystem>
#include <string>

namespace krl::process {

class InstalledFiles {
 public:
  // `symbol`: any symbol of the plugin or worker itself; `who` needs the files: "the cpu backend". The
  // functions throw Failure(KRL_FAILED_PRECONDITION) that names the missing file.
  InstalledFiles(const void* symbol, std::string who);

  const std::string& plugin() const { return plugin_; }
  std::string worker(const std::string& name) const;
  std::string shared_folder(const std::string& name) const;
  // The folder of the wheels: torch, and as much of CUDA as was installed.
  std::string wheels() const;

 private:
  std::string existing(const std::filesystem::path& path) const;

  std::string who_, plugin_;
  std::filesystem::path prefix_;
};

}  // namespace krl::process
