// task: int8_matvec
// @launch product<<<rows, 32>>>(packed, scale, x, y, words)
__global__ void product(const int* packed, const float* scale, const float* x, float* y, int words) {
  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k < 5; k++) {
    int w = threadIdx.x + 32 * k;
    if (w >= words) continue;
    int word = packed[blockIdx.x * words + w];
    for (int b = 0; b < 4; b++) sum += static_cast<signed char>(word >> (8 * b)) * x[4 * w + b];
  }
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
  if (threadIdx.x == 0) y[blockIdx.x] = scale[blockIdx.x] * sum;
}
