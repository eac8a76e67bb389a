// task: vector_add expect: ok
// Type traits, limits and std::move from the headers of the C++ library.
// @launch kern<float><<<ceil_div(n, 128), 128>>>(a, b, out, n)
#include <limits>
#include <type_traits>
#include <utility>
template <typename T>
__device__ std::enable_if_t<std::is_floating_point<T>::value, T> sum(T&& x, T&& y) {
  return x + y;
}
template <typename T>
__global__ void kern(const T* a, const T* b, T* out, int n) {
  static_assert(std::is_same<std::remove_const_t<const T>, float>::value, "float only");
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= n) return;
  T x = a[i], y = b[i];
  out[i] = fmaxf(sum<T>(std::move(x), std::move(y)), std::numeric_limits<T>::lowest());
}
