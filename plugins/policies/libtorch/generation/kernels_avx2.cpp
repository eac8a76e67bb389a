// Compiled with -mavx2 -mfma where the target is x86-64 (CMakeLists.txt).
#include "plugins/policies/libtorch/generation/kernel_loops.hpp"

namespace krl::libtorch {

const Kernels& avx2_kernels() { return kLoops; }

}  // namespace krl::libtorch
