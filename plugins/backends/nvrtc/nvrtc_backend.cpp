// The `nvrtc` backend: kernels compiled by NVRTC, and run on the GPUs of this machine.
#include "plugins/backends/cuda/cuda_backend.hpp"
#include "plugins/backends/nvrtc/nvrtc_compiler.hpp"

namespace krl::nvrtc {

struct Nvrtc {
  static constexpr const char* name = "nvrtc";
  static CudaCompiler compiler(const CompileSettings& settings, const InstalledFiles& files) {
    return nvrtc_compiler(settings, files);
  }
};

}  // namespace krl::nvrtc

KRL_PLUGIN("nvrtc", "1.0.0",
           krl::backend<krl::cuda::CudaBackend<krl::nvrtc::Nvrtc>>(
               "nvrtc", "Compiles with NVRTC in 50 ms; checks and times kernels on NVIDIA GPUs"))
