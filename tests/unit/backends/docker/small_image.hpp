// An image of a few megabytes for tests of containers: Debian's shell and the commands that the
// tests call, copied from this machine with their libraries.
#pragma once

#include <string>

#include "plugins/backends/docker/engine/engine.hpp"

namespace krl::docker::testing {

inline constexpr char kSmallImage[] = "kernelrl-test";

// Throws if that fails.
void import_small_image(const Engine& engine);

}  // namespace krl::docker::testing
