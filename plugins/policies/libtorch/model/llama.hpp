// The decoder as training computes it: with autograd, over packed batches.
#pragma once

#include <vector>

#include "model/fused_ops.hpp"
#include "model/packed_batch.hpp"
#include "model/parameters.hpp"
#include "torch.hpp"

namespace krl::libtorch {

// The parameters as tensors, in the order of ParameterLayout::slots: views into `flat` [total].
std::vector<at::Tensor> parameter_views(const ParameterLayout& layout, const at::Tensor& flat);

// Cosines and sines of every position, each [context, head_size / 2], of the type of the weights.
struct RotaryTensors {
  at::Tensor cosine, sine;
};
RotaryTensors rotary_tensors(const ModelConfig& config, at::ScalarType type);

// What the model predicts for the tokens after batch.predicting. Thread-safe; gradients flow to
// those `weights` that require them.
Predictions forward(const ParameterLayout& layout, const std::vector<at::Tensor>& weights,
                    const RotaryTensors& rotary, const PackedBatch& batch, double temperature);

}  // namespace krl::libtorch
