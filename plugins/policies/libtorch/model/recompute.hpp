// Activation checkpointing (Chen et al., "Training Deep Nets with Sublinear Memory Cost", 2016): a
// block stores only its input and is computed again in backward.
#pragma once

#include <functional>

#include "plugins/policies/libtorch/model/operations.hpp"

namespace krl::libtorch {

// Computes block(in) and keeps only in.sum of the input; `normed` computes in.normed from it again.
// Both run once more in backward and must return the same then.
Stream recomputed(const Stream& in, std::function<Stream(const Stream&)> block,
                  std::function<at::Tensor(const at::Tensor&)> normed);

}  // namespace krl::libtorch
