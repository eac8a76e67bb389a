// task: vector_mul expect: ok|compile_error
// A header of the host's standard library, which NVRTC may lack: then the message says so.
// @launch kern<<<ceil_div(len, 128), 128>>>(u, v, res, len)
#include <type_traits>
__global__ void kern(const float* u, const float* v, float* res, int len) {
  static_assert(std::is_same<float, decltype(*res + 0.0f)>::value, "float");
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < len) res[i] = u[i] * v[i];
}
