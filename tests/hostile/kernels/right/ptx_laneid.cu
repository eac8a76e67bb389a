// task: row_sum expect: ok
// Inline PTX: mov of %laneid, as asm volatile.
// @launch kern<<<rows, 32>>>(x, y, cols)
__device__ __forceinline__ unsigned lane() { unsigned r; asm volatile("mov.u32 %0, %%laneid;" : "=r"(r)); return r; }
__global__ void kern(const float* x, float* y, int cols) {
  float v = 0;
  for (int c = lane(); c < cols; c += 32) v += x[blockIdx.x * cols + c];
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
  if (lane() == 0) y[blockIdx.x] = v;
}
