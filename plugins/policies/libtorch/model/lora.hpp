// Low-rank adapters (LoRA: Hu et al. 2021) in one flat array, like the model's parameters. Names,
// shapes and initialisation are those of PEFT. Independent of torch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plugins/policies/libtorch/model/parameters.hpp"

namespace krl::libtorch {

struct LoraOptions {
  std::int64_t rank = 16;
  double alpha = 32;   // adapters count alpha / rank
  double dropout = 0;  // probability that an adapter does not see an input while it learns
  // The choices are q_proj, k_proj, v_proj, o_proj, gate_proj, up_proj, down_proj.
  std::vector<std::string> targets = {"q_proj",    "k_proj",  "v_proj",   "o_proj",
                                      "gate_proj", "up_proj", "down_proj"};
  std::uint64_t seed = 0;  // seed of the start and of dropout

  double scale() const { return alpha / static_cast<double>(rank); }
};

// The matrices of a block that adapters sit on, in our fused form.
enum class FusedMatrix { kQkv, kAttentionOut, kGateUp, kDown };

// One adapter: adds scale · B · A to rows of a fused matrix.
struct LoraPair {
  std::int64_t layer;
  FusedMatrix matrix;
  std::int64_t first_row, rows;  // rows of the fused matrix
  std::size_t a, b;              // slots of A [rank, inputs] and B [rows, rank]
};

struct LoraLayout {
  LoraOptions options;
  // "base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight", …; all are matrices. The A of
  // one fused matrix are one after the other, then come its B.
  std::vector<ParameterSlot> slots;
  std::vector<LoraPair> pairs;  // ordered by layer, then as FusedMatrix, then by rows
  std::int64_t total = 0;

  // Throws krl::Failure (KRL_INVALID_ARGUMENT) that names an option out of its range, or a target
  // that is unknown or named twice.
  LoraLayout(const ModelConfig& config, const LoraOptions& options);
};

// The slot of the fused matrix that a pair sits on.
std::size_t base_slot(const ParameterLayout& layout, const LoraPair& pair);

// A uniform within ±1/√inputs (Kaiming with a = √5, as PEFT has it), B zero: at the start the
// adapters do nothing.
std::vector<float> initial_adapters(const LoraLayout& layout);

}  // namespace krl::libtorch
