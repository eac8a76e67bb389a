// Tensors as arguments of kernels.
#pragma once

#include <ATen/core/Tensor.h>

namespace krl::libtorch {

// Returns the address of its numbers; null for an undefined tensor.
inline void* pointer(const at::Tensor& x) { return x.defined() ? x.data_ptr() : nullptr; }

}  // namespace krl::libtorch
