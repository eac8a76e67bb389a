// The `nvcc` backend: kernels compiled by nvcc, and run on the GPUs of this machine.
#include "plugins/backends/cuda/cuda_backend.hpp"
#include "plugins/backends/nvcc/nvcc_compiler.hpp"

namespace krl::nvcc {

struct Nvcc {
  static constexpr const char* name = "nvcc";
  static constexpr bool takes_host = true;
  static CudaCompiler compiler(const CompileSettings& settings, const InstalledFiles& files) {
    return nvcc_compiler(settings, files);
  }
};

}  // namespace krl::nvcc

KRL_PLUGIN("nvcc", "1.0.0",
           krl::backend<krl::cuda::CudaBackend<krl::nvcc::Nvcc>>(
               "nvcc", "Compiles with nvcc in 400 ms; checks and times kernels on NVIDIA GPUs"))
