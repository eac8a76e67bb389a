// A warp a row, eight elements of either row in flight a lane; no shared memory and no barriers.
// @launch cosine<<<ceil_div(rows, 4), 128>>>(a, b, y, rows, cols)
__global__ void __launch_bounds__(128)
    cosine(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ y,
           int rows, int cols) {
  int r = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  a += static_cast<size_t>(r) * cols;
  b += static_cast<size_t>(r) * cols;
  float dot = 0.0f, aa = 0.0f, bb = 0.0f;
#pragma unroll 8
  for (int j = lane; j < cols; j += 32) {
    float u = a[j], v = b[j];
    dot = fmaf(u, v, dot);
    aa = fmaf(u, u, aa);
    bb = fmaf(v, v, bb);
  }
  for (int step = 16; step > 0; step /= 2) {
    dot += __shfl_xor_sync(~0u, dot, step);
    aa += __shfl_xor_sync(~0u, aa, step);
    bb += __shfl_xor_sync(~0u, bb, step);
  }
  if (lane == 0) y[r] = dot / fmaxf(sqrtf(aa) * sqrtf(bb), 1e-8f);
}
