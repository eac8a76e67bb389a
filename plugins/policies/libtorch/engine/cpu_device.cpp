#include <optional>

#include "engine/device.hpp"
#include "generation/generator.hpp"

namespace krl::libtorch {
namespace {

class CpuDevice final : public Device {
 public:
  explicit CpuDevice(WorkerThreads& threads) : threads_(threads) {}

  std::string description() const override {
    const int count = threads_.size();
    return "cpu, " + std::to_string(count) + (count == 1 ? " thread" : " threads");
  }

  std::unique_ptr<const Operations> operations(const ModelConfig& config,
                                               at::ScalarType) const override {
    return make_cpu_operations(config);
  }

  // The decoder has its own layout of the weights, made again when they have changed.
  TextGenerator& generator(Trainer& trainer, const TokenTexts& texts) override {
    if (packed_version_ != trainer.version()) {
      pack_weights(trainer.layout(), trainer.weights(), packed_);
      packed_version_ = trainer.version();
    }
    if (!generator_) generator_.emplace(packed_, texts, threads_);
    return *generator_;
  }

 private:
  WorkerThreads& threads_;
  DecoderWeights packed_;
  std::int64_t packed_version_ = -1;
  std::optional<Generator> generator_;
};

}  // namespace

std::unique_ptr<Device> make_cpu_device(const EngineOptions& options, WorkerThreads& threads) {
  if (scalar_type(options.dtype) == at::kBFloat16) {
    invalid_argument("on the CPU dtype is float32 or float64; bfloat16 needs device = \"cuda\"");
  }
  return std::make_unique<CpuDevice>(threads);
}

at::ScalarType scalar_type(const std::string& dtype) {
  if (dtype == "float32") return at::kFloat;
  if (dtype == "float64") return at::kDouble;
  if (dtype == "bfloat16") return at::kBFloat16;
  invalid_argument("dtype is '" + dtype + "'; it must be bfloat16, float32 or float64");
}

}  // namespace krl::libtorch
