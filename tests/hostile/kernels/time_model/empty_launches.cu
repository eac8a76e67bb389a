// task: vector_add expect: ok max-speedup: 0.7
// Twenty-nine launches of nothing behind the work.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
// @launch nothing<<<1, 32>>>()
// @launch nothing<<<1, 32>>>()
// @launch nothing<<<1, 32>>>()
// @launch nothing<<<1, 32>>>()
// @launch nothing<<<1, 32>>>()
// @launch nothing<<<1, 32>>>()
// @launch nothing<<<1, 32>>>()
// @launch nothing<<<1, 32>>>()
// @launch nothing<<<1, 32>>>()
// @launch nothing<<<1, 32>>>()
// @launch nothing<<<1, 32>>>()
// @launch nothing<<<1, 32>>>()
// @launch nothing<<<1, 32>>>()
// @launch nothing<<<1, 32>>>()
// @launch nothing<<<1, 32>>>()
// @launch nothing<<<1, 32>>>()
// @launch nothing<<<1, 32>>>()
// @launch nothing<<<1, 32>>>()
// @launch nothing<<<1, 32>>>()
// @launch nothing<<<1, 32>>>()
// @launch nothing<<<1, 32>>>()
// @launch nothing<<<1, 32>>>()
// @launch nothing<<<1, 32>>>()
// @launch nothing<<<1, 32>>>()
// @launch nothing<<<1, 32>>>()
// @launch nothing<<<1, 32>>>()
// @launch nothing<<<1, 32>>>()
// @launch nothing<<<1, 32>>>()
// @launch nothing<<<1, 32>>>()
__global__ void nothing() {}
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
