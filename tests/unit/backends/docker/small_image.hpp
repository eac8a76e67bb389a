// An image of a megabyte for tests of containers: the static busybox of this machine and nothing
// else.
#pragma once

#include <string>

#include "plugins/backends/docker/engine/engine.hpp"

namespace krl::docker::testing {

inline constexpr char kSmallImage[] = "kernelrl-test";

// Why there can be no such image, "skipped: …"; empty if there can.
std::string small_image_obstacle();

void import_small_image(const Engine& engine);

}  // namespace krl::docker::testing
