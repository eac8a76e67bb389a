// Shared by both forms of a candidate: exceptions, and launches refused by CUDA, become the failure
// of the call.
#pragma once

#include <cuda_runtime_api.h>

#include <exception>

#include "kernelrl/host_call.hpp"

namespace kernelrl_host {

template <class Function>
void guarded(const Call& call, const Function& function) {
  try {
    function();
#ifdef __CUDACC__
    const cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) call.fail(call.harness, cudaGetErrorString(error));
#endif
  } catch (const std::exception& thrown) {
    call.fail(call.harness, thrown.what());
  } catch (...) {
    call.fail(call.harness, "it threw something other than a std::exception");
  }
}

}  // namespace kernelrl_host
