// Images for tests of containers, copied from this machine. The small one has a few megabytes:
// Debian's shell and the commands that the tests call, with their libraries.
#pragma once

#include <string>
#include <vector>

#include "plugins/backends/docker/engine/engine.hpp"

namespace krl::docker::testing {

inline constexpr char kSmallImage[] = "kernelrl-test";

// Throws if that fails.
void import_small_image(const Engine& engine);

// The small image, and what nvcc needs beside its toolkit: g++ as far as it preprocesses, and
// headers. `programs`: nvcc's own, whose libraries are copied too. Throws if that fails.
inline constexpr char kCompilerImage[] = "kernelrl-test-compiler";
void import_compiler_image(const Engine& engine, const std::vector<std::string>& programs);

}  // namespace krl::docker::testing
