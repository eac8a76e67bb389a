// emulate: --launch 'softmax<<<2, 128>>>(x, y, 8, 100)' --buffer x=f32[8,100]:-2.5 --buffer y=f32[8,100]
// holds: y = 0.01 0.01 0.01
// One warp per row keeps a running maximum and sum, and combines them by butterfly shuffles.
__global__ void softmax(const float* x, float* y, int rows, int cols) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float m = -INFINITY, d = 0;
  for (int c = lane; c < cols; c += 32) {
    float v = x[row * cols + c], larger = fmaxf(m, v);
    d = d * __expf(m - larger) + __expf(v - larger);
    m = larger;
  }
  for (int o = 16; o > 0; o >>= 1) {
    float m2 = __shfl_xor_sync(0xffffffffu, m, o), d2 = __shfl_xor_sync(0xffffffffu, d, o);
    float larger = fmaxf(m, m2);
    d = d * __expf(m - larger) + d2 * __expf(m2 - larger);
    m = larger;
  }
  for (int c = lane; c < cols; c += 32) y[row * cols + c] = __expf(x[row * cols + c] - m) / d;
}
