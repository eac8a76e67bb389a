// CUDA's words for g++, enough for the kernels that the simulated driver runs: one thread after the
// other, so no barriers and no warps. A kernel is made known by SIMULATED(name).
#pragma once

#include <cmath>
#include <cstring>
#include <functional>
#include <tuple>
#include <utility>

struct SimulatedIndex {
  unsigned x, y, z;
};

// Of the thread that is simulated; set by the driver.
extern "C" {
extern SimulatedIndex simulated_thread, simulated_block, simulated_block_size, simulated_grid_size;
}

// A tensor map of two sizes, the innermost first; the stride is that of rows, in bytes.
struct SimulatedTensorMap {
  const void* address;
  unsigned long long columns, rows, stride;
  unsigned box_columns, box_rows, type, swizzle;
};

// Shared memory of the one multiprocessor, which outlives launches as a GPU's does.
inline constexpr unsigned kSimulatedShared = 1024;  // words
extern unsigned krl_shared[kSimulatedShared];

#define __global__
#define __device__ static inline
#define __shared__
#define __launch_bounds__(...)
#define threadIdx simulated_thread
#define blockIdx simulated_block
#define blockDim simulated_block_size
#define gridDim simulated_grid_size

template <class To, class From>
To simulated_bits(From value) {
  static_assert(sizeof(To) == sizeof(From));
  To bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

__device__ unsigned __float_as_uint(float value) { return simulated_bits<unsigned>(value); }
__device__ float __uint_as_float(unsigned bits) { return simulated_bits<float>(bits); }
__device__ long long __double_as_longlong(double value) { return simulated_bits<long long>(value); }
__device__ double __longlong_as_double(long long bits) { return simulated_bits<double>(bits); }
__device__ int __float2int_rn(float value) { return static_cast<int>(std::lrintf(value)); }
// Launches run while the host waits for them, so what waits for the host waits in vain: its clock
// runs fast.
__device__ long long clock64() {
  static long long clock = 0;
  return clock += 1'000'000;
}
__device__ double __dmul_rn(double a, double b) { return a * b; }
__device__ double __dadd_rn(double a, double b) { return a + b; }
__device__ void atomicAdd(unsigned long long* at, unsigned long long value) { *at += value; }
__device__ void atomicMax(unsigned long long* at, unsigned long long value) {
  if (value > *at) *at = value;
}

template <class... Arguments, std::size_t... I>
std::function<void()> simulated_call(void (*kernel)(Arguments...), void** arguments,
                                     std::index_sequence<I...>) {
  return [kernel, values = std::tuple(*static_cast<Arguments*>(arguments[I])...)] {
    std::apply(kernel, values);
  };
}

// Exports what makes the call of one simulated thread from a launch's arguments, which it copies.
#define SIMULATED(kernel)                                                             \
  extern "C" void kernel##_simulated(void** arguments, std::function<void()>* call) { \
    *call = []<class... A>(void (*f)(A...), void** a) {                               \
      return simulated_call(f, a, std::index_sequence_for<A...>());                   \
    }(kernel, arguments);                                                             \
  }
