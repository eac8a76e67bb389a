#include "plugins/policies/libtorch/model/lora.hpp"

#include <algorithm>
#include <cmath>
#include <kernelrl/spelling.hpp>
#include <kernelrl/values.hpp>

#include "plugins/policies/libtorch/base/random_stream.hpp"

namespace krl::libtorch {
namespace {

// A matrix of the Hugging Face form, as a part of a fused one.
struct Target {
  const char* name;
  const char* module;  // name of the layer's module that contains it
  FusedMatrix matrix;
  std::int64_t first_row, rows, inputs;
};

std::vector<Target> targets_of(const ModelConfig& config) {
  const std::int64_t q = config.attention_width(), kv = config.kv_width();
  const std::int64_t hidden = config.hidden, ffn = config.ffn;
  return {{"q_proj", "self_attn", FusedMatrix::kQkv, 0, q, hidden},
          {"k_proj", "self_attn", FusedMatrix::kQkv, q, kv, hidden},
          {"v_proj", "self_attn", FusedMatrix::kQkv, q + kv, kv, hidden},
          {"o_proj", "self_attn", FusedMatrix::kAttentionOut, 0, hidden, q},
          {"gate_proj", "mlp", FusedMatrix::kGateUp, 0, ffn, hidden},
          {"up_proj", "mlp", FusedMatrix::kGateUp, ffn, ffn, hidden},
          {"down_proj", "mlp", FusedMatrix::kDown, 0, hidden, ffn}};
}

void check_options(const LoraOptions& options, const std::vector<Target>& targets) {
  constexpr std::int64_t kLargestRank = 4096;
  if (options.rank < 1 || options.rank > kLargestRank) {
    invalid_argument("lora.rank is " + std::to_string(options.rank) + "; it must be from 1 to " +
                     std::to_string(kLargestRank));
  }
  if (!(options.alpha > 0) || std::isinf(options.alpha)) {
    invalid_argument("lora.alpha must be greater than 0");
  }
  if (!(options.dropout >= 0 && options.dropout < 1)) {
    invalid_argument("lora.dropout must be in [0, 1)");
  }
  if (options.targets.empty()) invalid_argument("lora.targets is empty");
  std::vector<std::string> known;
  for (const Target& target : targets) known.emplace_back(target.name);
  for (const std::string& name : options.targets) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      invalid_argument("lora.targets: unknown matrix '" + name + "'" + did_you_mean(name, known));
    }
    if (std::count(options.targets.begin(), options.targets.end(), name) > 1) {
      invalid_argument("lora.targets names '" + name + "' twice");
    }
  }
}

}  // namespace

LoraLayout::LoraLayout(const ModelConfig& config, const LoraOptions& wanted) : options(wanted) {
  const std::vector<Target> targets = targets_of(config);
  check_options(options, targets);
  const auto add = [this](const std::string& name, std::int64_t rows, std::int64_t columns) {
    slots.push_back({name, {rows, columns}, total, rows * columns, 0, 0});
    total += rows * columns;
    return slots.size() - 1;
  };
  constexpr FusedMatrix kMatrices[] = {FusedMatrix::kQkv, FusedMatrix::kAttentionOut,
                                       FusedMatrix::kGateUp, FusedMatrix::kDown};
  for (std::int64_t layer = 0; layer < config.layers; ++layer) {
    for (const FusedMatrix matrix : kMatrices) {
      const std::size_t first = pairs.size();
      std::vector<std::string> names;
      for (const Target& target : targets) {
        const auto& wanted = options.targets;
        if (target.matrix != matrix) continue;
        if (std::find(wanted.begin(), wanted.end(), target.name) == wanted.end()) continue;
        names.push_back("base_model.model.model.layers." + std::to_string(layer) + "." +
                        target.module + "." + target.name);
        const std::size_t a = add(names.back() + ".lora_A.weight", options.rank, target.inputs);
        pairs.push_back({layer, matrix, target.first_row, target.rows, a, 0});
      }
      for (std::size_t i = 0; i < names.size(); ++i) {
        LoraPair& pair = pairs[first + i];
        pair.b = add(names[i] + ".lora_B.weight", pair.rows, options.rank);
      }
    }
  }
}

std::size_t base_slot(const ParameterLayout& layout, const LoraPair& pair) {
  switch (pair.matrix) {
    case FusedMatrix::kQkv:
      return layout.qkv(pair.layer);
    case FusedMatrix::kAttentionOut:
      return layout.attention_out(pair.layer);
    case FusedMatrix::kGateUp:
      return layout.gate_up(pair.layer);
    case FusedMatrix::kDown:
      return layout.down(pair.layer);
  }
  return 0;
}

std::vector<float> initial_adapters(const LoraLayout& layout) {
  std::vector<float> values(static_cast<std::size_t>(layout.total));
  for (const LoraPair& pair : layout.pairs) {
    const ParameterSlot& a = layout.slots[pair.a];
    const double bound = 1 / std::sqrt(static_cast<double>(a.shape[1]));
    for (std::int64_t i = 0; i < a.size; ++i) {
      const double draw = uniform(layout.options.seed, pair.a, static_cast<std::uint64_t>(i));
      values[static_cast<std::size_t>(a.offset + i)] = static_cast<float>((2 * draw - 1) * bound);
    }
  }
  return values;
}

}  // namespace krl::libtorch
