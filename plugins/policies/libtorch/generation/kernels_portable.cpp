#include "plugins/policies/libtorch/generation/kernel_loops.hpp"

namespace krl::libtorch {

const Kernels& portable_kernels() { return kLoops; }

}  // namespace krl::libtorch
