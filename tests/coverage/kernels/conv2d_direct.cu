// Direct convolution, weights in constant memory, a halo tile in shared memory.
__constant__ float kWeights[64 * 9];
__global__ void conv2d_direct(const float* x, float* y, int channels, int filters, int h, int w) {
  __shared__ float tile[18][18];
  const int tx = threadIdx.x, ty = threadIdx.y, ox = blockIdx.x * 16 + tx, oy = blockIdx.y * 16 + ty, f = blockIdx.z;
  float sum = 0;
  for (int c = 0; c < channels; ++c) {
    for (int i = ty * 16 + tx; i < 18 * 18; i += 256) {
      const int sy = blockIdx.y * 16 + i / 18 - 1, sx = blockIdx.x * 16 + i % 18 - 1;
      tile[i / 18][i % 18] = sy >= 0 && sy < h && sx >= 0 && sx < w ? x[(c * h + sy) * w + sx] : 0.f;
    }
    __syncthreads();
#pragma unroll
    for (int dy = 0; dy < 3; ++dy)
#pragma unroll
      for (int dx = 0; dx < 3; ++dx) sum += tile[ty + dy][tx + dx] * kWeights[(f * channels + c) * 9 + dy * 3 + dx];
    __syncthreads();
  }
  if (ox < w && oy < h) y[(f * h + oy) * w + ox] = sum;
}
