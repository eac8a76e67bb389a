// The `nvrtc` backend: kernels compiled by NVRTC, and run on the GPUs of this machine.
#include "plugins/backends/cuda/cuda_backend.hpp"
#include "plugins/backends/nvrtc/nvrtc_compiler.hpp"

namespace krl::nvrtc {
using namespace evaluator;

struct Nvrtc final : cuda::CudaBackend {
  static constexpr auto config = cuda_options();

  Nvrtc() : CudaBackend("nvrtc") {}
  CudaCompiler make_compiler(const CompileSettings& settings,
                             const InstalledFiles& files) const override {
    return nvrtc_compiler(settings, files);
  }
};

}  // namespace krl::nvrtc

KRL_PLUGIN("nvrtc", "1.0.0",
           krl::backend<krl::nvrtc::Nvrtc>(
               "nvrtc", "Compiles with NVRTC in 50 ms; checks and times kernels on NVIDIA GPUs"))
