// task: total_sum expect: ok max-speedup: 1.2
// Only the warp of the greatest weight is the critical path, and an atomic weighs 300 but costs 150: a decoy block hides a slow one.
// @launch kern<<<2, 32>>>(x, y, n)
__global__ void kern(const float* x, float* y, int n) {
  __shared__ float s[32];
  if (blockIdx.x == 0) {
    float sum = 0;
    if (threadIdx.x == 0) { for (int i = 0; i < n; ++i) sum += x[i]; y[0] = sum; }
  } else {
    s[threadIdx.x] = 0;
    __syncwarp();
    for (int i = 0; i < n * 3 / 8; ++i) atomicAdd(&s[threadIdx.x], 0.0f);
  }
}
