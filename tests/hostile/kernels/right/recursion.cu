// task: prefix_sum expect: ok
// A recursive scan of a thread's own piece, with the totals of all pieces before it summed first.
// @launch kern<<<1, 64>>>(x, y, n)
__device__ __noinline__ float sum_of(const float* x, int n) {
  if (n <= 0) return 0.0f;
  if (n <= 4) {
    float s = 0;
    for (int i = 0; i < n; ++i) s += x[i];
    return s;
  }
  return sum_of(x, n / 2) + sum_of(x + n / 2, n - n / 2);
}
__global__ void kern(const float* x, float* y, int n) {
  __shared__ float totals[64];
  const int each = (n + 63) / 64, begin = min(n, (int)threadIdx.x * each), end = min(n, begin + each);
  totals[threadIdx.x] = sum_of(x + begin, end - begin);
  __syncthreads();
  float carry = sum_of(totals, threadIdx.x);
  for (int i = begin; i < end; ++i) y[i] = carry += x[i];
}
