// task: vector_mul expect: ok
// Nested namespaces, enum class, using, static_assert, libcu++'s is_same, default arguments.
// @launch app::detail::kern<float, app::Mode::Fast><<<ceil_div(len, 128), 128>>>(u, v, res, len)
#include <cuda/std/type_traits>
namespace app {
enum class Mode : int { Slow, Fast };
namespace detail {
template <typename T, Mode mode = Mode::Slow>
__global__ void kern(const T* __restrict__ u, const T* __restrict__ v, T* __restrict__ res, const unsigned len) {
  static_assert(cuda::std::is_same<T, float>::value, "float only");
  const auto i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= len) return;
  if constexpr (mode == Mode::Fast) res[i] = __fmul_rn(u[i], v[i]);
  else res[i] = u[i] * v[i];
}
}  // namespace detail
}  // namespace app
