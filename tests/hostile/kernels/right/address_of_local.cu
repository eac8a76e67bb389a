// task: saxpy expect: ok
// Results through pointers to local variables, and references as out-parameters.
// @launch kern<<<ceil_div(n, 128), 128>>>(x, b, out, alpha, n)
__device__ __noinline__ void multiply(float x, float alpha, float* to) { *to = x * alpha; }
__device__ __noinline__ void increase(float& v, const float& by) { v += by; }
__global__ void kern(const float* x, const float* b, float* out, float alpha, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= n) return;
  float v;
  multiply(x[i], alpha, &v);
  increase(v, b[i]);
  out[i] = v;
}
