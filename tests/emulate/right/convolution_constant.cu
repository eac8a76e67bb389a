// emulate: --launch 'fill_filter<<<1, 9>>>()' --launch 'convolve<<<dim3(2, 2), dim3(16, 16)>>>(in, out, 32)'
// emulate: --buffer in=f32[32,32]:ones --buffer out=f32[32,32]
// holds: out = 4 6 6 6 6 6 6 6
// A 3 by 3 filter in a variable of the module; the frame counts as zero.
__device__ float filter[9];
__constant__ int kRadius = 1;
__global__ void fill_filter() { filter[threadIdx.x] = 1.0f; }
__global__ void convolve(const float* in, float* out, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = 0;
  for (int dy = -kRadius; dy <= kRadius; dy++)
    for (int dx = -kRadius; dx <= kRadius; dx++) {
      int sx = x + dx, sy = y + dy;
      if (sx >= 0 && sx < n && sy >= 0 && sy < n) sum += filter[(dy + 1) * 3 + dx + 1] * in[sy * n + sx];
    }
  out[y * n + x] = sum;
}
