// task: vector_add expect: ok|compile_error
// A struct of its own called float4, without its alignment.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
namespace mine { struct float4 { float x, y, z, w; }; }
using mine::float4;
__global__ void kern(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
