// task: row_argmax expect: ok
// A pair by value through helpers that are not inlined.
// @launch kern<<<rows, 32>>>(x, y, cols)
struct Best { float value; int at; };
__device__ __noinline__ Best better(Best a, Best b) {
  if (a.value > b.value || (a.value == b.value && a.at < b.at)) return a;
  return b;
}
__global__ void kern(const float* x, int* y, int cols) {
  const float* row = x + blockIdx.x * cols;
  Best best{-INFINITY, 0x7fffffff};
  for (int c = threadIdx.x; c < cols; c += 32) best = better(best, Best{row[c], c});
  for (int d = 16; d > 0; d >>= 1) {
    Best other;
    other.value = __shfl_down_sync(0xffffffffu, best.value, d);
    other.at = __shfl_down_sync(0xffffffffu, best.at, d);
    best = better(best, other);
  }
  if (threadIdx.x == 0) y[blockIdx.x] = best.at;
}
