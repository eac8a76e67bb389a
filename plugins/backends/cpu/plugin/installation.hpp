// Where the `cpu` plugin's workers and headers lie: by fixed paths from the plugin's own file, in
// the build tree as under an installation prefix. Pure, but for the file system.
#pragma once

#include <string>

namespace krl {

struct Installation {
  std::string launcher;  // kernelrl-sandbox
  std::string emulator;  // kernelrl-emulator
  std::string oracle;    // kernelrl-oracle
  std::string shim;      // the folder with krl_device.h
  std::string plugin;    // the plugin itself
};

// Throws Failure(KRL_FAILED_PRECONDITION) that names what is missing.
Installation find_installation();

}  // namespace krl
