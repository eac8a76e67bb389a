// Opens the engine's library. [call] thread-safe.
#pragma once

#include "engine.hpp"

namespace krl::libtorch {

// The engine's factory. The library lies at ../engines/ from this plugin's own file, or where the
// environment variable KERNELRL_TORCH_ENGINE says; it stays loaded. Throws krl::Failure
// (KRL_FAILED_PRECONDITION) that says which file could not be opened, why, and what to do.
CreateEngine load_engine();

}  // namespace krl::libtorch
