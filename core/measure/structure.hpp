// The structure of a kernel, by which kernels are told apart that differ in more than numbers and
// names.
#pragma once

#include <kernelrl/evaluation.hpp>
#include <string>

namespace krl::core {

// Describes the compiled and executed code, not its text: "2 launches, shared 256, shuffles, blocks
// of 64". Sizes are rounded down to powers of 4. What the backend does not report is left out.
std::string structure_of(const Evaluation& evaluation);

}  // namespace krl::core
