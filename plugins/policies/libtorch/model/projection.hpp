// A matrix of the model, with adapters of low rank on parts of its rows (LoRA: Hu et al. 2021):
//   y = x·Wᵀ + scale · dropout(x)·Aᵀ·Bᵀ
// The sum of its gradients is kept apart from autograd's: backward adds to it in place, in the
// accumulator's own precision, so that many micro-batches lose nothing and need no second copy.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace krl::libtorch {

// A parameter as the forward pass takes it.
struct Parameter {
  at::Tensor value;  // in the compute type
  // The sum of its gradients, of the same shape and of the same or a wider type; undefined if it
  // does not learn. If autograd sums them (a leaf on the CPU), this is value.grad().
  at::Tensor gradient;

  bool learns() const { return gradient.defined(); }
};

// Adds gradᵀ · x to `sum`: the gradient of a matrix whose products with x [N, inputs] have the
// gradient `grad` [N, outputs]. A float32 sum of bfloat16 products is never rounded in between.
void accumulate_product(const at::Tensor& sum, const at::Tensor& grad, const at::Tensor& x,
                        double scale = 1);

// B of an adapter of the rows [first_row, first_row + b.size(0)) of a matrix.
struct Adapter {
  Parameter b;  // [rows, rank]
  std::int64_t first_row;
};

struct Projection {
  Parameter weight;  // [outputs, inputs]
  std::vector<Adapter> adapters;
  Parameter a;  // all adapters, one after the other: [adapters · rank, inputs]
  double scale = 1;
  // Probability that the adapters do not see an input, and the seed that selects these inputs.
  double dropout = 0;
  std::uint64_t dropout_seed = 0;
};

// The input of the adapters' gradients, [N, adapters · rank]; undefined without adapters.
struct AdapterTrace {
  at::Tensor narrowed;     // dropout(x) · Aᵀ, made on the way forward
  at::Tensor by_narrowed;  // its gradient before `scale`, made on the way back
};

// y = x·Wᵀ + scale · x·Aᵀ·Bᵀ without dropout, into `out` [N, outputs]; `narrowed` has room for
// [N, a.value.size(0)] numbers a row apart, and is not looked at without adapters. Allocates
// nothing.
void project_into(const Projection& projection, const at::Tensor& x, at::Tensor out,
                  const at::Tensor& narrowed);

// The products without autograd; x [N, inputs] → [N, outputs].
at::Tensor project_forward(const Projection& projection, const at::Tensor& x, AdapterTrace& trace);
// The gradient of x, given that of y.
at::Tensor project_backward_input(const Projection& projection, const at::Tensor& grad,
                                  AdapterTrace& trace);
// Adds to the gradients of the weight and of the adapters. REQUIRES: project_backward_input() came
// before, with this trace.
void project_backward_weights(const Projection& projection, const at::Tensor& grad,
                              const at::Tensor& x, const AdapterTrace& trace);

// The same as an operation of autograd.
at::Tensor project(const at::Tensor& x, const Projection& projection);

}  // namespace krl::libtorch
