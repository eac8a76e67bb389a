// The features of this machine that backends may need, as far as they are known without them.
#pragma once

#include <string>
#include <vector>

namespace krl::service {

// Something that the machine has or lacks.
struct MachineFeature {
  std::string name;     // "landlock"
  std::string found;    // "version 3", "/usr/bin/g++"; empty: the machine lacks it
  std::string problem;  // only if it is lacking: why, and what to do
};

// Describes the host's compiler, and the features that isolate a process from the rest of the
// machine.
std::vector<MachineFeature> machine_features();

}  // namespace krl::service
