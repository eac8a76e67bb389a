// The files used by the `cpu` plugin.
#pragma once

#include <string>

#include "plugins/process/installed_files.hpp"

namespace krl::cpu {

struct Installation {
  process::InstalledFiles files;
  std::string launcher;  // kernelrl-sandbox
  std::string machine;   // kernelrl-machine, for this processor
  std::string oracle;    // kernelrl-oracle
};

// Throws Failure(KRL_FAILED_PRECONDITION) that names the missing file.
Installation find_installation();

}  // namespace krl::cpu
