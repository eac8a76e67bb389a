// The call of a candidate of the contract `host`: the data that the harness passes to the shared
// object made of the candidate's source. The harness' process and the code that is put behind the
// source (host_source.hpp) share this header. C++17, plain data; memory is the GPU's unless noted.
#pragma once

namespace kernelrl_host {

inline constexpr int kMostAxes = 8;

struct Tensor {
  void* data;  // contiguous, row-major
  long long shape[kMostAxes];
  int axes;   // length of `shape`
  int dtype;  // krl::DType: float32, float16, bfloat16, int32, int64, bool
};

// A view whose elements are anywhere; strides in elements.
struct StridedTensor {
  const void* data;
  long long shape[kMostAxes], strides[kMostAxes];
  int axes, element_bytes;
};

struct Scalar {
  int dtype;
  double real;        // value of a float32
  long long integer;  // value of any other type
};

struct Call {
  const Tensor* tensors;  // the task's inputs, then its outputs that are not inputs
  int n_tensors, n_inputs;
  const int* outputs;  // for each output, its index in `tensors`
  int n_outputs;
  const Scalar* scalars;
  int n_scalars;
  const long long* axes;  // the variable axes
  int n_axes;
  void* stream;  // all work is to be in its order

  void* harness;  // the first argument of the functions
  // Memory for the time of the call, at least until it is released; null if there is no more.
  void* (*allocate)(void* harness, unsigned long long bytes);
  void (*release)(void* harness, void* memory);
  // Output number `output` is at `tensor` instead of at its own place; it is fetched from there
  // when the call has returned, so the memory must not be released before.
  void (*give)(void* harness, int output, const Tensor* tensor);
  // Enqueues a copy of the elements, in the order of their indices, one after the other at `to`.
  void (*gather)(void* harness, void* to, const StridedTensor* from);
  // The call failed. `text` is copied.
  void (*fail)(void* harness, const char* text);
};

}  // namespace kernelrl_host

// The one function that the harness looks for.
extern "C" __attribute__((visibility("default"))) void kernelrl_host_call(
    const kernelrl_host::Call* call);
