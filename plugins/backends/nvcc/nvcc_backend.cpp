// The `nvcc` backend: kernels compiled by nvcc, and run on the GPUs of this machine.
#include "plugins/backends/cuda/cuda_backend.hpp"
#include "plugins/backends/nvcc/nvcc_compiler.hpp"

namespace krl::nvcc {
using namespace evaluator;

struct Nvcc final : cuda::CudaBackend {
  static constexpr std::uint32_t flags = CudaBackend::flags | KRL_TAKES_HOST;
  static constexpr auto config = cuda_options();

  Nvcc() : CudaBackend("nvcc") {}
  CudaCompiler make_compiler(const CompileSettings& settings,
                             const InstalledFiles& files) const override {
    return nvcc_compiler(settings, files);
  }
};

}  // namespace krl::nvcc

KRL_PLUGIN("nvcc", "1.0.0",
           krl::backend<krl::nvcc::Nvcc>(
               "nvcc", "Compiles with nvcc in 400 ms; checks and times kernels on NVIDIA GPUs"))
