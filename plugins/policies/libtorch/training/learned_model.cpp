#include "training/learned_model.hpp"

#include "base/random_stream.hpp"
#include "torch.hpp"

namespace krl::libtorch {
namespace {

at::Tensor to_flat(const std::vector<float>& values, const Operations& operations,
                   at::ScalarType type) {
  const auto count = static_cast<std::int64_t>(values.size());
  return at::from_blob(const_cast<float*>(values.data()), {count})  // only read
      .to(operations.device(), type, /*non_blocking=*/false, /*copy=*/true);
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

// A seed of its own for each fused matrix.
std::uint64_t mixed(std::uint64_t seed, const LoraPair& pair) {
  const auto layer = static_cast<std::uint32_t>(pair.layer);
  const auto block =
      philox({layer, static_cast<std::uint32_t>(pair.matrix), 0, 0},
             {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
  return std::uint64_t{block[0]} << 32 | block[1];
}

}  // namespace

LearnedModel::LearnedModel(const ParameterLayout& layout, const std::vector<float>& weights,
                           const std::optional<LoraOptions>& lora, bool critic,
                           const Operations& operations, at::ScalarType compute)
    : layout_(layout), critic_(critic), operations_(operations), compute_(compute) {
  if (lora) {
    lora_.emplace(layout.config, *lora);
    base_ = to_flat(weights, operations, compute);
  }
  slots_ = lora_ ? lora_->slots : layout_.slots;
  if (!critic) return;
  const std::int64_t hidden = layout.config.hidden;
  slots_.push_back({"critic.weight", {1, hidden}, policy_total(), hidden, 0, 0});
  slots_.push_back({"critic.bias", {1}, policy_total() + hidden, 1, 0, 0});
}

at::Tensor LearnedModel::start(const std::vector<float>& weights) const {
  const at::Tensor policy =
      to_flat(lora_ ? initial_adapters(*lora_) : weights, operations_, master_type());
  if (!critic_) return policy;
  // At first every state is worth 0.
  return at::cat({policy, at::zeros({total() - policy_total()}, policy.options())});
}

void LearnedModel::update(const at::Tensor& master) {
  merged_is_new_ = false;
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
  DecoderParameters parameters =
      lora_ ? bind_base() : bind_parameters(layout_, operations_, learned, gradients);
  if (critic_) {
    const auto part = [&](const at::Tensor& flat) {
      return flat.defined() ? flat.narrow(0, policy_total(), total() - policy_total()) : flat;
    };
    bind_critic(operations_, part(learned), part(gradients), parameters);
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

const at::Tensor& LearnedModel::merged() {
  if (!lora_) {
    if (!merged_.defined()) merged_ = working_.narrow(0, 0, layout_.total);
    return merged_;
  }
  if (merged_is_new_) return merged_;
  const at::NoGradGuard no_grad;
  if (!merged_.defined()) merged_ = base_.clone();
  const auto bases = parameter_views(layout_, base_), sums = parameter_views(layout_, merged_);
  for (const LoraPair& pair : lora_->pairs) {
    const auto view = [&](std::size_t slot) {
      const ParameterSlot& s = lora_->slots[slot];
      return working_.narrow(0, s.offset, s.size).view(s.shape).to(master_type());
    };
    const std::size_t slot = base_slot(layout_, pair);
    const auto base = bases[slot].narrow(0, pair.first_row, pair.rows).to(master_type());
    sums[slot]
        .narrow(0, pair.first_row, pair.rows)
        .copy_(at::addmm(base, view(pair.b), view(pair.a), 1, lora_->options.scale()));
  }
  merged_is_new_ = true;
  return merged_;
}

}  // namespace krl::libtorch
