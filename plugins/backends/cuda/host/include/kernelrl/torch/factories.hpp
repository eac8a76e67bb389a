// New tensors, in memory provided by the harness.
#pragma once

#include "kernelrl/torch/tensor.hpp"

namespace at {

inline Tensor empty(IntArrayRef sizes, TensorOptions options = {}) {
  std::int64_t bytes = elementSize(options.scalar_type());
  for (const std::int64_t size : sizes) {
    TORCH_CHECK(size >= 0, "Trying to create tensor with negative dimension ", size, ": ", sizes);
    bytes *= size;
  }
  return {kernelrl_host::LentMemory(bytes), sizes.vec(), options.scalar_type()};
}

inline Tensor zeros(IntArrayRef sizes, TensorOptions options = {}) {
  Tensor tensor = empty(sizes, options);
  return tensor.zero_();
}

inline Tensor empty_like(const Tensor& like, TensorOptions options) {
  return empty(like.sizes(), options);
}
inline Tensor empty_like(const Tensor& like) { return empty(like.sizes(), like.options()); }
inline Tensor zeros_like(const Tensor& like, TensorOptions options) {
  return zeros(like.sizes(), options);
}
inline Tensor zeros_like(const Tensor& like) { return zeros(like.sizes(), like.options()); }

inline TensorOptions dtype(ScalarType type) { return type; }
template <class Where>
TensorOptions device(Where where, int = 0) {
  return TensorOptions().device(where);
}

// The type of an accumulator for sums of T.
template <class T, bool = true>
struct AccumulateType {
  using type = T;
};
template <>
struct AccumulateType<Half, true> {
  using type = float;
};
template <>
struct AccumulateType<BFloat16, true> {
  using type = float;
};
template <class T, bool on_gpu = true>
using acc_type = typename AccumulateType<T, on_gpu>::type;
template <class T>
using opmath_type = typename AccumulateType<T>::type;

}  // namespace at
