#include "plugins/policies/libtorch/training/learned_model.hpp"

#include <cstdint>

#include "plugins/policies/libtorch/base/random_stream.hpp"
#include "plugins/policies/libtorch/torch.hpp"

namespace krl::libtorch {
namespace {

at::ScalarType torch_type(StoredType type) {
  if (type == StoredType::kBFloat16) return at::kBFloat16;
  return type == StoredType::kFloat16 ? at::kHalf : at::kFloat;
}

// Returns the stored numbers as a view, or a copy if torch needs them at another address.
at::Tensor view_of(const StoredPiece& piece) {
  const at::ScalarType type = torch_type(piece.type);
  void* bytes = const_cast<char*>(piece.bytes.data());  // only read
  const auto address = reinterpret_cast<std::uintptr_t>(bytes);
  if (address % at::elementSize(type) == 0) return at::from_blob(bytes, {piece.size}, type);
  const auto count = static_cast<std::int64_t>(piece.bytes.size());
  return at::from_blob(bytes, {count}, at::kByte).clone().view(type);
}

// Piece by piece, each converted where it is computed with.
at::Tensor to_flat(const StoredWeights& weights, std::int64_t total, const Operations& operations,
                   at::ScalarType type) {
  const at::Device device = operations.device();
  const at::Tensor flat = at::empty({total}, at::TensorOptions(device).dtype(type));
  for (const StoredPiece& piece : weights.pieces())
    flat.narrow(0, piece.offset, piece.size).copy_(view_of(piece).to(device));
  return flat;
}

Projection& projection_of(DecoderParameters& parameters, const LoraPair& pair) {
  Block& block = parameters.blocks[static_cast<std::size_t>(pair.layer)];
  switch (pair.matrix) {
    case FusedMatrix::kQkv:
      return block.qkv;
    case FusedMatrix::kAttentionOut:
      return block.attention_out;
    case FusedMatrix::kGateUp:
      return block.gate_up;
    case FusedMatrix::kDown:
      break;
  }
  return block.down;
}

// A separate seed for each fused matrix.
std::uint64_t mixed(std::uint64_t seed, const LoraPair& pair) {
  const auto layer = static_cast<std::uint32_t>(pair.layer);
  const auto block =
      philox({layer, static_cast<std::uint32_t>(pair.matrix), 0, 0},
             {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
  return std::uint64_t{block[0]} << 32 | block[1];
}

}  // namespace

LearnedModel::LearnedModel(const ParameterLayout& layout, const StoredWeights& weights,
                           const std::optional<LoraOptions>& lora,
                           const std::optional<CriticOptions>& critic, const Operations& operations,
                           at::ScalarType compute)
    : layout_(layout), critic_(critic), operations_(operations), compute_(compute) {
  if (lora) {
    lora_.emplace(layout.config, *lora);
    base_ = to_flat(weights, layout.total, operations, compute);
  }
  slots_ = lora_ ? lora_->slots : layout_.slots;
  if (!critic) return;
  const std::int64_t hidden = layout.config.hidden;
  slots_.push_back({"critic.weight", {1, hidden}, policy_total(), hidden, 0, 0});
  slots_.push_back({"critic.bias", {1}, policy_total() + hidden, 1, 0, 0});
}

at::Tensor LearnedModel::start(const StoredWeights& weights) const {
  const auto flat = [&](const StoredWeights& from) {
    return to_flat(from, policy_total(), operations_, master_type());
  };
  const at::Tensor policy = lora_ ? flat(initial_adapters(*lora_)) : flat(weights);
  if (!critic_) return policy;
  // Initially every state has the value 0.
  return at::cat({policy, at::zeros({total() - policy_total()}, policy.options())});
}

void LearnedModel::update(const at::Tensor& master) {
  if (critic_) critic_weights_ = master.narrow(0, policy_total(), total() - policy_total());
  if (master_type() == compute_) {
    working_ = master;
  } else if (working_.defined()) {
    working_.copy_(master);
  } else {
    working_ = master.to(compute_);
  }
}

DecoderParameters LearnedModel::bind(const at::Tensor& learned, const at::Tensor& gradients,
                                     std::optional<std::uint64_t> dropout_seed) const {
  DecoderParameters parameters = lora_ ? frozen_parameters(layout_, base_)
                                       : bind_parameters(layout_, operations_, learned, gradients);
  if (critic_) {
    const at::Tensor part = gradients.defined()
                                ? gradients.narrow(0, policy_total(), total() - policy_total())
                                : gradients;
    bind_critic(operations_, critic_weights_, part, critic_->detach, parameters);
  }
  if (!lora_) return parameters;
  const auto parameter = [&](std::size_t slot) {
    const ParameterSlot& s = lora_->slots[slot];
    const auto view = [&](const at::Tensor& flat) {
      return flat.narrow(0, s.offset, s.size).view(s.shape);
    };
    return Parameter{view(learned), gradients.defined() ? view(gradients) : at::Tensor()};
  };
  // The A of a fused matrix as one, from its first to its last slot.
  const auto stacked = [&](std::size_t from, std::size_t to) {
    const ParameterSlot &head = lora_->slots[from], &tail = lora_->slots[to];
    const auto view = [&](const at::Tensor& flat) {
      return flat.narrow(0, head.offset, tail.offset + tail.size - head.offset)
          .view({-1, head.shape[1]});
    };
    return Parameter{view(learned), gradients.defined() ? view(gradients) : at::Tensor()};
  };
  std::size_t first = 0;
  for (const LoraPair& pair : lora_->pairs) {
    Projection& projection = projection_of(parameters, pair);
    projection.scale = lora_->options.scale();
    if (projection.adapters.empty()) first = pair.a;
    projection.adapters.push_back({parameter(pair.b), pair.first_row});
    projection.a = stacked(first, pair.a);
    if (!dropout_seed) continue;
    projection.dropout = lora_->options.dropout;
    projection.dropout_seed = mixed(*dropout_seed, pair);
  }
  return parameters;
}

at::Tensor LearnedModel::merged() const {
  const at::NoGradGuard no_grad;
  const auto here = [&](const at::Tensor& x) {
    return x.to(at::kCPU, master_type(), /*non_blocking=*/false, /*copy=*/true);
  };
  const at::Tensor sum = here(weights());
  if (!lora_) return sum;
  const at::Tensor adapters = here(working_);
  const auto matrices = parameter_views(layout_, sum);
  for (const LoraPair& pair : lora_->pairs) {
    const auto view = [&](std::size_t slot) {
      const ParameterSlot& s = lora_->slots[slot];
      return adapters.narrow(0, s.offset, s.size).view(s.shape);
    };
    matrices[base_slot(layout_, pair)]
        .narrow(0, pair.first_row, pair.rows)
        .addmm_(view(pair.b), view(pair.a), 1, lora_->options.scale());
  }
  return sum;
}

}  // namespace krl::libtorch
