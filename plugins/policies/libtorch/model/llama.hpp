// The decoder as training computes it: with autograd, over packed batches, on any device.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "plugins/policies/libtorch/model/operations.hpp"
#include "plugins/policies/libtorch/model/parameters.hpp"

namespace krl::libtorch {

// The parameters as tensors, in the order of ParameterLayout::slots: views into `flat` [total].
std::vector<at::Tensor> parameter_views(const ParameterLayout& layout, const at::Tensor& flat);

// The parameters that are in `values` [total], whose gradients are summed in `gradients` [total];
// undefined: none of them learns.
DecoderParameters bind_parameters(const ParameterLayout& layout, const Operations& operations,
                                  const at::Tensor& values, const at::Tensor& gradients);

// The same, where none learns.
DecoderParameters frozen_parameters(const ParameterLayout& layout, const at::Tensor& values);

// Returns the angles of every position of the context, on the device of `operations`.
Angles angle_table(const Operations& operations, at::ScalarType compute);

struct ForwardOptions {
  // Keeps of each block only its input, and computes the block again in backward: 3.6 GB instead of
  // 9.6 for 28 % more time at 135M parameters and 16k tokens on an H200 (bench/training_bench).
  bool recompute = false;
};

// The normalised last hidden states of the rows batch.predicting, [M, hidden]. Thread-safe;
// gradients flow to the parameters that learn. `operations` and `parameters` must outlive backward.
at::Tensor last_hidden(const Operations& operations, const DecoderParameters& parameters,
                       const Angles& table, const PackedBatch& batch,
                       const ForwardOptions& options = {});

// The parameters of a critic that are in `values` [hidden + 1], weight and then bias, with
// gradients summed in `gradients`; undefined: it does not learn.
void bind_critic(const Operations& operations, const at::Tensor& values,
                 const at::Tensor& gradients, bool detached, DecoderParameters& parameters);

// The model's predictions for the tokens after batch.predicting, without gradients.
Predictions predictions(const Operations& operations, const DecoderParameters& parameters,
                        const Angles& table, const PackedBatch& batch, double temperature);

}  // namespace krl::libtorch
