// Tensors as arguments of kernels.
#pragma once

#include <ATen/core/Tensor.h>

namespace krl::libtorch {

// Where its numbers begin; null for an undefined tensor.
inline void* pointer(const at::Tensor& x) { return x.defined() ? x.data_ptr() : nullptr; }

}  // namespace krl::libtorch
