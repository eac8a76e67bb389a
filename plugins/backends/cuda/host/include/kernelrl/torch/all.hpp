// kernelrl's complete torch shim: tensors without operations, for host code that launches its
// kernels. It takes a second to compile where torch takes half a minute.
#pragma once

#include <cuda_runtime.h>

#include <cfloat>  // torch includes it, and sources rely on it
#include <vector>

#include "kernelrl/torch/cuda.hpp"
#include "kernelrl/torch/dispatch.hpp"
#include "kernelrl/torch/factories.hpp"
#include "kernelrl/torch/module.hpp"

namespace torch {
using namespace at;
namespace cuda {
using namespace c10::cuda;
}
}  // namespace torch
