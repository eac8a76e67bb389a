// task: row_sum expect: runtime_fault|nondeterministic|wrong_result on-gpu: runtime_fault|wrong_result|nondeterministic|ok
// The last five steps of a reduction without __syncwarp: the old idiom, wrong since warps may diverge.
// @launch kern<<<rows, 32>>>(x, y, cols)
__global__ void kern(const float* x, float* y, int cols) {
  __shared__ volatile float s[64];
  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += 32) sum += x[blockIdx.x * cols + c];
  s[threadIdx.x] = sum;
  s[threadIdx.x + 32] = 0;
  for (int d = 16; d > 0; d /= 2) s[threadIdx.x] += s[threadIdx.x + d];
  if (threadIdx.x == 0) y[blockIdx.x] = s[0];
}
