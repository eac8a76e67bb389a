#include "plugins/policies/libtorch/engine/cuda/cuda_device.hpp"

#include <ATen/Context.h>
#include <c10/cuda/CUDAFunctions.h>
#include <cuda_runtime_api.h>

#include <cstdlib>

#include "plugins/policies/libtorch/generation/cuda/cuda_generator.hpp"
#include "plugins/policies/libtorch/model/cuda/operations.hpp"

namespace krl::libtorch {
namespace {

class CudaDevice final : public Device {
 public:
  CudaDevice(int index, std::int64_t slots) : index_(index) { options_.most_slots = slots; }

  std::string description() const override {
    cudaDeviceProp properties{};
    if (cudaGetDeviceProperties(&properties, index_) != cudaSuccess) return "cuda";
    return std::string("cuda, ") + properties.name;
  }

  std::unique_ptr<const Operations> operations(const ModelConfig& config,
                                               at::ScalarType compute) const override {
    return make_cuda_operations(config, compute);
  }

  // The generator reads the trainer's weights where they are.
  TextGenerator& generator(Trainer& trainer, const TokenTexts& texts) override {
    if (!generator_) {
      generator_ =
          make_cuda_generator(trainer.layout().config, trainer.parameters(), texts, options_);
    }
    return *generator_;
  }

  bool release_generation_memory() override {
    if (!generator_) return false;
    generator_->release();
    return true;
  }

  void make_current() const override {
    c10::cuda::set_device(static_cast<c10::DeviceIndex>(index_));
  }

 private:
  int index_;
  CudaGeneratorOptions options_;
  std::unique_ptr<ContinuousGenerator> generator_;
};

// All but flash attention's backward, which adds in the order in which its blocks end, is so
// anyhow. torch asks for cuBLAS to be told as well, before its first call.
void repeat_bit_for_bit() {
  ::setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", /*overwrite=*/0);
  at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/false);
  at::globalContext().setDeterministicFillUninitializedMemory(false);
}

}  // namespace

std::unique_ptr<Device> make_cuda_device(const EngineOptions& options, WorkerThreads&) {
  if (scalar_type(options.dtype) == at::kDouble) {
    invalid_argument("on a GPU dtype is bfloat16 or float32, not float64");
  }
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess || count == 0) {
    throw Failure(KRL_FAILED_PRECONDITION,
                  std::string("policy.device is \"cuda\", but no GPU is usable: ") +
                      (error != cudaSuccess ? cudaGetErrorString(error) : "there is none") +
                      "; see `kernelrl doctor`, or set policy.device = \"cpu\"");
  }
  if (options.gpu >= count) {
    invalid_argument("GPU " + std::to_string(options.gpu) + " does not exist; this process sees " +
                     std::to_string(count));
  }
  if (options.deterministic) repeat_bit_for_bit();
  auto device = std::make_unique<CudaDevice>(options.gpu, options.slots);
  device->make_current();
  return device;
}

}  // namespace krl::libtorch
