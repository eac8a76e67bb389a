// task: top_k_rows
// @launch kern<<<rows, 32>>>(x, y, rows, cols)
__global__ void kern(const float* x, float* y, int rows, int cols) {
  float own[3] = {-INFINITY, -INFINITY, -INFINITY};
  for (int j = threadIdx.x; j < cols; j += 32) {
    float v = x[blockIdx.x * cols + j];
    for (int k = 0; k < 3; k++) {
      float lower = fminf(v, own[k]);
      own[k] = fmaxf(v, own[k]);
      v = lower;
    }
  }
  for (int k = 0; k < 8; k++) {
    float top = own[0];
    for (int step = 16; step > 0; step /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, step));
    unsigned holders = __ballot_sync(0xffffffffu, own[0] == top);
    if (threadIdx.x == __ffs(holders) - 1) {
      y[blockIdx.x * 8 + k] = top;
      own[0] = own[1];
      own[1] = own[2];
      own[2] = -INFINITY;
    }
  }
}
