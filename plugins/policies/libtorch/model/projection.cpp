#include "plugins/policies/libtorch/model/projection.hpp"

#include "plugins/policies/libtorch/model/autograd.hpp"
#include "plugins/policies/libtorch/torch.hpp"

namespace krl::libtorch {
namespace {

// 0 where the adapters do not see the input, 1 / (1 - dropout) elsewhere; undefined without
// dropout. Recomputed in backward from the seed, not kept.
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

// The part of adapter number `index`.
at::Tensor columns_of(const at::Tensor& narrowed, const Adapter& adapter, std::size_t index) {
  const std::int64_t rank = adapter.b.value.size(1);
  return narrowed.narrow(1, static_cast<std::int64_t>(index) * rank, rank);
}

// y += scale · narrowed·Bᵀ
void add_adapters(const Projection& projection, const at::Tensor& narrowed, const at::Tensor& y) {
  for (std::size_t i = 0; i < projection.adapters.size(); ++i) {
    const Adapter& adapter = projection.adapters[i];
    rows_of(y, adapter)
        .addmm_(columns_of(narrowed, adapter, i), adapter.b.value.t(), 1, projection.scale);
  }
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

void project_into(const Projection& projection, const at::Tensor& x, at::Tensor out,
                  const at::Tensor& narrowed) {
  at::mm_out(out, x, projection.weight.value.t());
  if (projection.adapters.empty()) return;
  at::Tensor part = narrowed.narrow(0, 0, x.size(0)).narrow(1, 0, projection.a.value.size(0));
  at::mm_out(part, x, projection.a.value.t());
  add_adapters(projection, part, out);
}

at::Tensor project_forward(const Projection& projection, const at::Tensor& x, AdapterTrace& trace) {
  const at::Tensor y = at::mm(x, projection.weight.value.t());
  if (projection.adapters.empty()) return y;
  const at::Tensor seen = masked(x, dropout_mask(projection, x, x.sizes()));
  trace.narrowed = at::mm(seen, projection.a.value.t());
  add_adapters(projection, trace.narrowed, y);
  return y;
}

at::Tensor project_backward_input(const Projection& projection, const at::Tensor& grad,
                                  AdapterTrace& trace) {
  at::Tensor by_x = at::mm(grad, projection.weight.value);
  if (projection.adapters.empty()) return by_x;
  trace.by_narrowed = at::empty_like(trace.narrowed);
  for (std::size_t i = 0; i < projection.adapters.size(); ++i) {
    const Adapter& adapter = projection.adapters[i];
    at::Tensor by_columns = columns_of(trace.by_narrowed, adapter, i);
    at::mm_out(by_columns, rows_of(grad, adapter), adapter.b.value);
  }
  const at::Tensor mask = dropout_mask(projection, by_x, by_x.sizes());
  if (!mask.defined())
    return by_x.addmm_(trace.by_narrowed, projection.a.value, 1, projection.scale);
  return by_x.addcmul_(at::mm(trace.by_narrowed, projection.a.value), mask, projection.scale);
}

void project_backward_weights(const Projection& projection, const at::Tensor& grad,
                              const at::Tensor& x, const AdapterTrace& trace) {
  if (projection.weight.learns()) accumulate_product(projection.weight.gradient, grad, x);
  if (projection.adapters.empty() || !projection.a.learns()) return;
  const at::Tensor seen = masked(x, dropout_mask(projection, x, x.sizes()));
  accumulate_product(projection.a.gradient, trace.by_narrowed, seen, projection.scale);
  for (std::size_t i = 0; i < projection.adapters.size(); ++i) {
    const Adapter& adapter = projection.adapters[i];
    accumulate_product(adapter.b.gradient, rows_of(grad, adapter),
                       columns_of(trace.narrowed, adapter, i), projection.scale);
  }
}

at::Tensor project(const at::Tensor& x, const Projection& projection) {
  AdapterTrace trace;
  at::Tensor y;
  {
    const at::NoGradGuard no_grad;
    y = project_forward(projection, x, trace);
  }
  record({x}, {y},
         [x = x.detach(), projection, trace](const std::vector<at::Tensor>& grads) mutable {
           const at::Tensor grad = grads[0].contiguous();
           const at::Tensor by_x = project_backward_input(projection, grad, trace);
           project_backward_weights(projection, grad, x, trace);
           return std::vector<at::Tensor>{by_x};
         });
  return y;
}

}  // namespace krl::libtorch
