// emulate: --launch 'softmax<<<8, 128>>>(x, y, cols)' --buffer x=f32[8,256]:3 --buffer y=f32[8,256] --value cols=256
// holds: y = 0.00390625 0.00390625 0.00390625
// One block per row: maximum, sum and division, with reductions in shared memory.
#include <cfloat>
__global__ void softmax(const float* x, float* y, int cols) {
  __shared__ float s[128];
  const float* row = x + blockIdx.x * cols;
  int t = threadIdx.x;
  float m = -FLT_MAX;
  for (int c = t; c < cols; c += blockDim.x) m = fmaxf(m, row[c]);
  s[t] = m;
  __syncthreads();
  for (int h = blockDim.x / 2; h > 0; h /= 2) {
    if (t < h) s[t] = fmaxf(s[t], s[t + h]);
    __syncthreads();
  }
  m = s[0];
  __syncthreads();
  float sum = 0;
  for (int c = t; c < cols; c += blockDim.x) sum += expf(row[c] - m);
  s[t] = sum;
  __syncthreads();
  for (int h = blockDim.x / 2; h > 0; h /= 2) {
    if (t < h) s[t] += s[t + h];
    __syncthreads();
  }
  for (int c = t; c < cols; c += blockDim.x) y[blockIdx.x * cols + c] = expf(row[c] - m) / s[0];
}
