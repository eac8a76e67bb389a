#include <optional>

#include "plugins/policies/libtorch/engine/device.hpp"
#include "plugins/policies/libtorch/generation/generator.hpp"
#include "plugins/policies/libtorch/torch.hpp"

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
      pack(trainer);
      packed_version_ = trainer.version();
    }
    if (!generator_) generator_.emplace(packed_, texts, threads_);
    return *generator_;
  }

 private:
  // Frozen weights are packed once.
  void pack(const Trainer& trainer) {
    const auto floats = [](const at::Tensor& x) { return x.to(at::kFloat).contiguous(); };
    const auto values = [](const at::Tensor& x) {
      return std::span(x.const_data_ptr<float>(), static_cast<std::size_t>(x.numel()));
    };
    if (packed_version_ < 0 || trainer.lora() == nullptr) {
      const at::Tensor weights = floats(trainer.model_weights());
      pack_weights(trainer.layout(), values(weights), packed_);
    }
    if (trainer.lora() == nullptr) return;
    const at::Tensor adapters = floats(trainer.adapters());
    pack_adapters(*trainer.lora(), values(adapters), packed_);
  }

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
