// Supports a forward that was translated from Python (model_answer.cpp).
#pragma once

#include <cstdint>
#include <tuple>
#include <type_traits>
#include <vector>

#include "kernelrl/torch/tensor.hpp"

namespace kernelrl_host {

struct Nothing {};

// Returns the result of a function, or Nothing if it returns nothing.
template <class Call>
auto result(Call call) {
  if constexpr (std::is_void_v<decltype(call())>) {
    call();
    return Nothing{};
  } else {
    return call();
  }
}

// x[i] of Python.
template <int i>
at::Tensor item(const at::Tensor& tensor) {
  return tensor.select(0, i);
}
template <int i>
at::Tensor item(const std::vector<at::Tensor>& tensors) {
  TORCH_CHECK(i < tensors.size(), "list index out of range");
  return tensors[i];
}
template <int i, class... Tensors>
at::Tensor item(const std::tuple<Tensors...>& tensors) {
  return std::get<i>(tensors);
}

// a // b and a % b of Python.
inline std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  TORCH_CHECK(b != 0, "integer division or modulo by zero");
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}
inline std::int64_t floor_mod(std::int64_t a, std::int64_t b) { return a - b * floor_div(a, b); }

// A number is a tensor without axes in PyTorch, and has one axis of size 1 in a task.
inline at::Tensor returned(const at::Tensor& tensor) {
  return tensor.dim() == 0 ? tensor.view({1}) : tensor;
}
template <class Tensors>
Tensors returned(const Tensors& tensors) {
  static_assert(!std::is_same_v<Tensors, Nothing>, "forward returns what a void function returns");
  return tensors;
}

}  // namespace kernelrl_host
