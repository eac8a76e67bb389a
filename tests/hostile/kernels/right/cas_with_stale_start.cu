// task: total_sum expect: ok
// The loop around a compare-and-swap begins with whatever a plain load finds.
// @launch clear<<<1, 1>>>(y)
// @launch kern<<<16, 64>>>(x, y, n)
__global__ void clear(float* y) { *y = 0; }
__global__ void kern(const float* x, float* y, int n) {
  float sum = 0;
  for (int i = blockIdx.x * 64 + threadIdx.x; i < n; i += 1024) sum += x[i];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (threadIdx.x % 32 != 0) return;
  unsigned* bits = (unsigned*)y;
  unsigned seen = *bits, assumed;
  do {
    assumed = seen;
    seen = atomicCAS(bits, assumed, __float_as_uint(__uint_as_float(assumed) + sum));
  } while (seen != assumed);
}
