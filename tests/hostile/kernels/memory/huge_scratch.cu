// task: vector_add expect: launch_error|resource_limit|rejected
// More scratch memory than an evaluation has.
// @scratch t float[n * 1000000]
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, t, n)
__global__ void kern(const float* a, const float* b, float* out, float* t, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
