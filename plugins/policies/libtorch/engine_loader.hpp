// Opens the engine's library. [call] thread-safe.
#pragma once

#include "plugins/policies/libtorch/engine.hpp"

namespace krl::libtorch {

// Returns the factory of the engine for `device`, "cpu" or "cuda". The libraries are at ../engines/
// from this plugin's own file, or in the folder that the environment variable
// KERNELRL_TORCH_ENGINES names; an opened library stays loaded. Throws krl::Failure
// (KRL_FAILED_PRECONDITION) that explains which file could not be opened, why, and what to do.
CreateEngine load_engine(const std::string& device);

}  // namespace krl::libtorch
