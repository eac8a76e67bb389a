#include "model/projection.hpp"

#include "model/autograd.hpp"

namespace krl::libtorch {
namespace {

// 0 where the adapters do not see the input, 1 / (1 - dropout) elsewhere; undefined without
// dropout. Made anew in backward, from the seed, rather than kept.
at::Tensor dropout_mask(const Projection& projection, const at::Tensor& like,
                        at::IntArrayRef shape) {
  if (projection.dropout == 0) return {};
  auto generator = at::globalContext().defaultGenerator(like.device()).clone();
  generator.set_current_seed(projection.dropout_seed);
  const double kept = 1 - projection.dropout;
  return at::empty(shape, like.options()).bernoulli_(kept, generator).div_(kept);
}

at::Tensor masked(const at::Tensor& x, const at::Tensor& mask) {
  return mask.defined() ? x * mask : x;
}

at::Tensor rows_of(const at::Tensor& y, const Adapter& adapter) {
  return y.narrow(1, adapter.first_row, adapter.b.value.size(0));
}

}  // namespace

void accumulate_product(const at::Tensor& sum, const at::Tensor& grad, const at::Tensor& x,
                        double scale) {
  at::Tensor to = sum;
  if (sum.scalar_type() == x.scalar_type()) {
    at::addmm_out(to, to, grad.t(), x, 1, scale);
  } else {
    at::addmm_out(to, to, grad.t(), x, sum.scalar_type(), 1, scale);
  }
}

at::Tensor project_forward(const Projection& projection, const at::Tensor& x, AdapterTrace& trace) {
  const at::Tensor y = at::mm(x, projection.weight.value.t());
  if (projection.adapters.empty()) return y;
  const at::Tensor seen = masked(x, dropout_mask(projection, x, x.sizes()));
  for (const Adapter& adapter : projection.adapters) {
    trace.narrowed.push_back(at::mm(seen, adapter.a.value.t()));
    rows_of(y, adapter).addmm_(trace.narrowed.back(), adapter.b.value.t(), 1, projection.scale);
  }
  return y;
}

at::Tensor project_backward_input(const Projection& projection, const at::Tensor& grad) {
  at::Tensor by_x = at::mm(grad, projection.weight.value);
  if (projection.adapters.empty()) return by_x;
  const at::Tensor mask = dropout_mask(projection, by_x, by_x.sizes());
  at::Tensor by_seen = mask.defined() ? at::zeros_like(by_x) : by_x;
  for (const Adapter& adapter : projection.adapters) {
    const auto by_narrowed = at::mm(rows_of(grad, adapter), adapter.b.value);
    by_seen.addmm_(by_narrowed, adapter.a.value, 1, projection.scale);
  }
  return mask.defined() ? by_x.addcmul_(by_seen, mask) : by_x;
}

void project_backward_weights(const Projection& projection, const at::Tensor& grad,
                              const at::Tensor& x, const AdapterTrace& trace) {
  if (projection.weight.learns()) accumulate_product(projection.weight.gradient, grad, x);
  if (projection.adapters.empty()) return;
  const at::Tensor seen = masked(x, dropout_mask(projection, x, x.sizes()));
  for (std::size_t i = 0; i < projection.adapters.size(); ++i) {
    const Adapter& adapter = projection.adapters[i];
    if (!adapter.a.learns()) continue;
    const at::Tensor by_rows = rows_of(grad, adapter);
    accumulate_product(adapter.b.gradient, by_rows, trace.narrowed[i], projection.scale);
    accumulate_product(adapter.a.gradient, at::mm(by_rows, adapter.b.value), seen,
                       projection.scale);
  }
}

at::Tensor project(const at::Tensor& x, const Projection& projection) {
  AdapterTrace trace;
  at::Tensor y;
  {
    const at::NoGradGuard no_grad;
    y = project_forward(projection, x, trace);
  }
  record({x}, {y}, [x = x.detach(), projection, trace](const std::vector<at::Tensor>& grads) {
    const at::Tensor grad = grads[0].contiguous();
    project_backward_weights(projection, grad, x, trace);
    return std::vector<at::Tensor>{project_backward_input(projection, grad)};
  });
  return y;
}

}  // namespace krl::libtorch
