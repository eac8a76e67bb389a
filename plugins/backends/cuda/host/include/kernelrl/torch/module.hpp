// PYBIND11_MODULE: the way in which a torch extension exports one of its functions as `forward`. It
// is called with the task's inputs and scalars, in their order, and returns the outputs; or it
// takes the outputs as further tensors.
#pragma once

#include <string>
#include <tuple>
#include <type_traits>

#include "kernelrl/torch/tensor.hpp"

namespace kernelrl_host {

template <class T>
inline constexpr bool kIsTensor =
    std::is_same_v<T, at::Tensor> || std::is_same_v<T, c10::optional<at::Tensor>>;

// Hands out the arguments of a call by their types.
class Arguments {
 public:
  explicit Arguments(const Call& call) : call_(call) {}

  template <class T>
  T next() {
    static_assert(kIsTensor<T> || std::is_arithmetic_v<T>,
                  "not in kernelrl's torch shim: a parameter of forward that is neither a "
                  "tensor nor a number");
    if constexpr (kIsTensor<T>) {
      return at::Tensor(call_.tensors[tensor_++]);
    } else {
      const Scalar& scalar = call_.scalars[scalar_++];
      return scalar.dtype == 0 ? static_cast<T>(scalar.real) : static_cast<T>(scalar.integer);
    }
  }

 private:
  const Call& call_;
  int tensor_ = 0, scalar_ = 0;
};

inline void give_at(const Call& call, int output, const at::Tensor& tensor) {
  TORCH_CHECK(tensor.defined(), "forward returned an undefined tensor");
  TORCH_CHECK(tensor.is_contiguous(), "forward returned a tensor that is not contiguous");
  TORCH_CHECK(tensor.dim() <= kMostAxes, "forward returned a tensor of ", tensor.dim(), " axes");
  Tensor given{tensor.data_ptr(),
               {},
               static_cast<int>(tensor.dim()),
               static_cast<int>(tensor.scalar_type())};
  for (std::int64_t axis = 0; axis < tensor.dim(); ++axis) given.shape[axis] = tensor.size(axis);
  call.give(call.harness, output, &given);
}

inline void give(const Call& call, const at::Tensor& tensor) { give_at(call, 0, tensor); }
inline void give(const Call& call, const std::vector<at::Tensor>& tensors) {
  for (std::size_t i = 0; i < tensors.size(); ++i) give_at(call, static_cast<int>(i), tensors[i]);
}
template <class... Tensors>
void give(const Call& call, const std::tuple<Tensors...>& tensors) {
  std::apply([&](const auto&... each) { give(call, std::vector<at::Tensor>{each...}); }, tensors);
}
template <class A, class B>
void give(const Call& call, const std::pair<A, B>& tensors) {
  give(call, std::vector<at::Tensor>{tensors.first, tensors.second});
}

template <class Result, class... Parameters>
void call_forward(const Call& call, Result (*function)(Parameters...)) {
  constexpr int kTensors = (0 + ... + int{kIsTensor<std::decay_t<Parameters>>});
  constexpr int kNumbers = static_cast<int>(sizeof...(Parameters)) - kTensors;
  TORCH_CHECK(
      (kTensors == call.n_inputs || kTensors == call.n_tensors) && kNumbers == call.n_scalars,
      "forward takes ", kTensors, " tensors and ", kNumbers, " numbers; the task has ",
      call.n_inputs, " inputs and ", call.n_scalars, " scalars");
  Arguments source(call);
  std::tuple<std::decay_t<Parameters>...> arguments{source.next<std::decay_t<Parameters>>()...};
  if constexpr (std::is_void_v<Result>) {
    std::apply(function, arguments);
  } else {
    give(call, std::apply(function, arguments));
  }
}

// Calls the function that is defined as `forward`, and ignores all others.
class Module {
 public:
  explicit Module(const Call& call) : call_(call) {}

  template <class Function, class... Words>
  Module& def(const char* name, Function function, const Words&...) {
    if (std::string(name) != "forward") return *this;
    found_ = true;
    if constexpr (std::is_pointer_v<Function>) {
      call_forward(call_, function);
    } else {
      call_forward(call_, +function);
    }
    return *this;
  }
  std::string& doc() { return doc_; }
  bool found() const { return found_; }

 private:
  const Call& call_;
  bool found_ = false;
  std::string doc_;
};

void bind_functions(Module& module);

}  // namespace kernelrl_host

namespace pybind11 {

struct arg {
  explicit arg(const char*) {}
  template <class T>
  arg& operator=(const T&) {
    return *this;
  }
  arg& noconvert() { return *this; }
};
struct gil_scoped_release {};
template <class...>
struct call_guard {};
struct none {};

}  // namespace pybind11
namespace py = pybind11;

#define PYBIND11_MODULE(name, variable) \
  void ::kernelrl_host::bind_functions(::kernelrl_host::Module& variable)
#ifndef TORCH_EXTENSION_NAME
#define TORCH_EXTENSION_NAME kernelrl_candidate
#endif
