// emulate: --launch 'sum<<<8, 64>>>(x, partial, count, total, n)' --buffer x=i32[512]:ones --buffer partial=i32[8]
// emulate: --buffer count=u32[1]:zeros --buffer total=i32[1] --value n=512
// holds: total = 512
// The block that finishes last adds the partial sums, after a fence and a counter.
__global__ void sum(const int* x, volatile int* partial, unsigned* count, int* total, int n) {
  __shared__ int s[64];
  __shared__ bool is_last;
  int t = threadIdx.x, i = blockIdx.x * 64 + t;
  s[t] = i < n ? x[i] : 0;
  __syncthreads();
  for (int h = 32; h > 0; h /= 2) {
    if (t < h) s[t] += s[t + h];
    __syncthreads();
  }
  if (t == 0) {
    partial[blockIdx.x] = s[0];
    __threadfence();
    is_last = atomicInc(count, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (is_last && t == 0) {
    int all = 0;
    for (int b = 0; b < gridDim.x; ++b) all += partial[b];
    *total = all;
    *count = 0;
  }
}
