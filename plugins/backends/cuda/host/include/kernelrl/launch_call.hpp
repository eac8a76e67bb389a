// The call of a plain CUDA launcher, `launch(tensors…, scalars…, axes…[, stream])`. The arguments
// convert to each type that a launcher may reasonably use for them, and to no other: the compiler
// checks the signature.
#pragma once

#include <type_traits>

#include "kernelrl/guarded_call.hpp"

namespace kernelrl_host {

// Converts to `long*` (std::int64_t*) and to `long long*`, which are two types.
struct Int64Pointer {
  void* data;
  operator long*() const { return static_cast<long*>(data); }
  operator long long*() const { return static_cast<long long*>(data); }
};

// Converts to any integer of at least 32 bits.
struct Integer {
  long long value;
  template <class T, class = std::enable_if_t<std::is_integral_v<T> && sizeof(T) >= sizeof(int)>>
  operator T() const {
    return static_cast<T>(value);
  }
};

// Converts to float and double.
struct Real {
  double value;
  template <class T, class = std::enable_if_t<std::is_floating_point_v<T>>>
  operator T() const {
    return static_cast<T>(value);
  }
};

template <class Launch, class... Arguments>
inline constexpr bool kTakes = std::is_invocable_v<Launch, Arguments...> ||
                               std::is_invocable_v<Launch, Arguments..., cudaStream_t>;

inline void check(const Call& call, cudaError_t error) {
#ifdef __CUDACC__
  if (error != cudaSuccess) call.fail(call.harness, cudaGetErrorString(error));
#else
  if (error != cudaSuccess) call.fail(call.harness, "it returned an error");
#endif
}

template <class Launch, class... Arguments>
void invoke(const Call& call, const Launch& launch, Arguments... arguments) {
  using Result = decltype(launch(arguments...));
  if constexpr (std::is_same_v<Result, cudaError_t>) {
    check(call, launch(arguments...));
  } else {
    launch(arguments...);
  }
}

// Nothing, where the signature is wrong: that is an error already.
template <class Launch, class... Arguments>
void call_launch(const Call& call, const Launch& launch, Arguments... arguments) {
  guarded(call, [&] {
    if constexpr (std::is_invocable_v<Launch, Arguments..., cudaStream_t>) {
      invoke(call, launch, arguments..., static_cast<cudaStream_t>(call.stream));
    } else if constexpr (std::is_invocable_v<Launch, Arguments...>) {
      invoke(call, launch, arguments...);
    }
  });
}

}  // namespace kernelrl_host
