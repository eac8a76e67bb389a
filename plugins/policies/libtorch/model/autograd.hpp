// Operations with custom derivatives, recorded in torch's graph as closures, which hold what
// backward needs, with its types.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

namespace krl::libtorch {

// Maps the gradients of the outputs (undefined for an unused one) to those of the inputs (undefined
// where there is none). Runs once, without recording its own gradients.
using Backward = std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>&)>;

// True if an operation on `x` has to be recorded.
bool needs_gradient(const at::Tensor& x);

// Makes `outputs`, computed without gradients, depend on `inputs` by `backward`; does nothing where
// no gradient is asked for. An output that `backward` needs is captured as `output.detach()`:
// holding the output itself would keep both alive for ever.
void record(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>& outputs,
            Backward backward);

}  // namespace krl::libtorch
