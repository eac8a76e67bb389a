// The operations on a CUDA device: torch's matrix products and flash attention, and our kernels for
// everything between them.
#pragma once

#include <memory>

#include "plugins/policies/libtorch/model/operations.hpp"

namespace krl::libtorch {

// Makes operations for the current device; `compute` is bfloat16 or float32 (then attention is
// torch's memory-efficient one, and matrix products have full precision unless torch is told
// otherwise). All work is launched on torch's current stream. Throws krl::Failure as
// check_trainable_on_cuda() and KernelLibrary.
std::unique_ptr<const Operations> make_cuda_operations(const ModelConfig& config,
                                                       at::ScalarType compute);

}  // namespace krl::libtorch
