// The `nvrtc` backend: kernels compiled by NVRTC, and run on the GPUs of this machine.
#include "plugins/backends/cuda/cuda_backend.hpp"
#include "plugins/backends/nvrtc/nvrtc_compiler.hpp"

namespace krl {

struct Nvrtc {
  static constexpr const char* name = "nvrtc";
  static CudaCompiler compiler(const CompileSettings& settings, const InstalledFiles& files) {
    return nvrtc_compiler(settings, files);
  }
};

}  // namespace krl

KRL_PLUGIN("nvrtc", "1.0.0",
           krl::backend<krl::CudaBackend<krl::Nvrtc>>(
               "nvrtc", "Compiles with NVRTC in 50 ms; checks and times kernels on NVIDIA GPUs"))
