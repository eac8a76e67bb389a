#include "plugins/policies/libtorch/model/llama.hpp"

#include "plugins/policies/libtorch/model/autograd.hpp"
#include "plugins/policies/libtorch/model/recompute.hpp"
#include "plugins/policies/libtorch/model/rotary_table.hpp"
#include "plugins/policies/libtorch/torch.hpp"

namespace krl::libtorch {

std::vector<at::Tensor> parameter_views(const ParameterLayout& layout, const at::Tensor& flat) {
  std::vector<at::Tensor> views;
  for (const ParameterSlot& slot : layout.slots) {
    views.push_back(flat.narrow(0, slot.offset, slot.size).view(slot.shape));
  }
  return views;
}

namespace {

Parameter bind_parameter(const Operations& operations, const at::Tensor& value,
                         const at::Tensor& gradient) {
  Parameter parameter{value.detach(), gradient};
  if (gradient.defined() && operations.parameters_are_leaves()) {
    parameter.value.set_requires_grad(true);
    parameter.value.mutable_grad() = gradient;
  }
  return parameter;
}

// `bound`: in the order of ParameterLayout::slots.
DecoderParameters in_their_places(const ParameterLayout& layout,
                                  const std::vector<Parameter>& bound) {
  const ModelConfig& config = layout.config;
  DecoderParameters parameters{.embedding = bound[layout.embedding()],
                               .blocks = {},
                               .final_norm = bound[layout.final_norm()],
                               .head = bound[layout.head()],
                               .critic_weight = {},
                               .critic_bias = {},
                               .critic_detached = true};
  for (std::int64_t layer = 0; layer < config.layers; ++layer) {
    Block block;
    block.attention_norm = bound[layout.attention_norm(layer)];
    block.ffn_norm = bound[layout.ffn_norm(layer)];
    block.qkv.weight = bound[layout.qkv(layer)];
    block.attention_out.weight = bound[layout.attention_out(layer)];
    block.gate_up.weight = bound[layout.gate_up(layer)];
    block.down.weight = bound[layout.down(layer)];
    if (config.qkv_bias()) block.qkv_bias = bound[layout.qkv_bias(layer)];
    if (config.qk_norm()) {
      block.query_norm = bound[layout.query_norm(layer)];
      block.key_norm = bound[layout.key_norm(layer)];
    }
    parameters.blocks.push_back(std::move(block));
  }
  return parameters;
}

// One forward pass; shared with the backward pass where blocks are computed again.
class Pass {
 public:
  Pass(const Operations& operations, const DecoderParameters& parameters, const Angles& table,
       const PackedBatch& batch)
      : operations_(operations), parameters_(parameters), batch_(batch) {
    angles_ = {table.cosine.index_select(0, batch.positions),
               table.sine.index_select(0, batch.positions)};
  }

  at::Tensor embedded() const {
    const at::Tensor x = operations_.embed(parameters_.embedding, batch_.tokens);
    // A frozen embedding has no gradient, but later layers may have one.
    if (at::GradMode::is_enabled() && !x.requires_grad()) x.set_requires_grad(true);
    return x;
  }

  // Returns the input of a block's first matrix; for the block after the last, the input of the
  // head.
  at::Tensor normed_before(std::size_t layer, const at::Tensor& sum) const {
    return operations_.rms_norm(sum, gain_before(layer));
  }

  Stream run_block(std::size_t layer, const Stream& in) const {
    const Block& block = parameters_.blocks[layer];
    const auto qkv = operations_.project(in.normed, block.qkv);
    const auto attended = operations_.attention(qkv, block, angles_, batch_);
    const Stream middle =
        operations_.add_projection(in.sum, attended, block.attention_out, block.ffn_norm);
    const auto gate_up = operations_.project(middle.normed, block.gate_up);
    return operations_.add_feed_forward(middle.sum, gate_up, block.down, gain_before(layer + 1));
  }

  // The rows that predict. Each is there once, so the way back need not add.
  at::Tensor predicting(const at::Tensor& x) const {
    at::Tensor selected;
    {
      const at::NoGradGuard no_grad;
      selected = x.index_select(0, batch_.predicting);
    }
    record({x}, {selected},
           [rows = batch_.predicting, sizes = x.sizes().vec()](const std::vector<at::Tensor>& by) {
             const at::Tensor by_x = at::zeros(sizes, by[0].options());
             return std::vector<at::Tensor>{by_x.index_copy_(0, rows, by[0])};
           });
    return selected;
  }

 private:
  const Parameter& gain_before(std::size_t layer) const {
    return layer < parameters_.blocks.size() ? parameters_.blocks[layer].attention_norm
                                             : parameters_.final_norm;
  }

  const Operations& operations_;
  const DecoderParameters& parameters_;
  PackedBatch batch_;
  Angles angles_;
};

}  // namespace

DecoderParameters bind_parameters(const ParameterLayout& layout, const Operations& operations,
                                  const at::Tensor& values, const at::Tensor& gradients) {
  if (!gradients.defined()) return frozen_parameters(layout, values);
  const auto views = parameter_views(layout, values), sums = parameter_views(layout, gradients);
  std::vector<Parameter> bound;
  for (std::size_t i = 0; i < views.size(); ++i)
    bound.push_back(bind_parameter(operations, views[i], sums[i]));
  return in_their_places(layout, bound);
}

DecoderParameters frozen_parameters(const ParameterLayout& layout, const at::Tensor& values) {
  std::vector<Parameter> bound;
  for (const at::Tensor& view : parameter_views(layout, values))
    bound.push_back({view.detach(), at::Tensor()});
  return in_their_places(layout, bound);
}

void bind_critic(const Operations& operations, const at::Tensor& values,
                 const at::Tensor& gradients, bool detached, DecoderParameters& parameters) {
  const std::int64_t hidden = operations.config().hidden;
  const auto weight = [&](const at::Tensor& flat) {
    return flat.narrow(0, 0, hidden).view({1, hidden});
  };
  const auto bias = [&](const at::Tensor& flat) { return flat.narrow(0, hidden, 1); };
  const bool learns = gradients.defined();
  parameters.critic_weight =
      bind_parameter(operations, weight(values), learns ? weight(gradients) : at::Tensor());
  parameters.critic_bias =
      bind_parameter(operations, bias(values), learns ? bias(gradients) : at::Tensor());
  parameters.critic_detached = detached;
}

at::Tensor critic_values(const DecoderParameters& parameters, const at::Tensor& hidden) {
  const at::NoGradGuard no_grad;
  const at::Tensor& weight = parameters.critic_weight.value;
  return at::linear(hidden.to(weight.scalar_type()), weight, parameters.critic_bias.value)
      .squeeze(1);
}

Angles angle_table(const Operations& operations, at::ScalarType compute) {
  const ModelConfig& config = operations.config();
  const RotaryTable table = rotary_table(config);
  const auto tensor = [&](const std::vector<float>& values) {
    return at::tensor(values)
        .view({config.context, config.head_size() / 2})
        .to(operations.device(), operations.angle_type(compute));
  };
  return {tensor(table.cosine), tensor(table.sine)};
}

at::Tensor last_hidden(const Operations& operations, const DecoderParameters& parameters,
                       const Angles& table, const PackedBatch& batch,
                       const ForwardOptions& options) {
  const auto pass = std::make_shared<const Pass>(operations, parameters, table, batch);
  Stream stream;
  stream.sum = pass->embedded();
  stream.normed = pass->normed_before(0, stream.sum);
  for (std::size_t layer = 0; layer < parameters.blocks.size(); ++layer) {
    if (!options.recompute) {
      stream = pass->run_block(layer, stream);
      continue;
    }
    stream = recomputed(
        stream, [pass, layer](const Stream& in) { return pass->run_block(layer, in); },
        [pass, layer](const at::Tensor& sum) { return pass->normed_before(layer, sum); });
  }
  return pass->predicting(stream.normed);
}

Predictions predictions(const Operations& operations, const DecoderParameters& parameters,
                        const Angles& table, const PackedBatch& batch, double temperature) {
  const at::NoGradGuard no_grad;
  const auto hidden = last_hidden(operations, parameters, table, batch);
  return operations.predict(hidden, parameters.head, batch.targets, temperature);
}

}  // namespace krl::libtorch
