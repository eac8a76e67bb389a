// The files that the `cpu` plugin works with.
#pragma once

#include <string>

namespace krl {

struct Installation {
  std::string launcher;  // kernelrl-sandbox
  std::string emulator;  // kernelrl-emulator
  std::string oracle;    // kernelrl-oracle
  std::string shim;      // the folder with krl_device.h
  std::string plugin;    // the plugin itself
  std::string wheels;    // the folder with torch, which the oracle uses
};

// Throws Failure(KRL_FAILED_PRECONDITION) that names what is missing.
Installation find_installation();

}  // namespace krl
