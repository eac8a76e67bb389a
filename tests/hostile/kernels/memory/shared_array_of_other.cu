// task: row_sum expect: runtime_fault|wrong_result on-gpu: ok|runtime_fault|wrong_result|nondeterministic
// Behind one shared array lies the next: an index out of bounds reads what nobody has written.
// @launch kern<<<rows, 32>>>(x, y, cols)
__global__ void kern(const float* x, float* y, int cols) {
  __shared__ float s[33], t[33];
  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += 32) sum += x[blockIdx.x * cols + c];
  s[threadIdx.x] = sum;
  if (cols == 1) t[threadIdx.x] = s[32] = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    float total = 0;
    for (int k = 0; k < 33 + (cols & 1); ++k) total += s[k];
    y[blockIdx.x] = total + 0.0f * t[cols & 31];
  }
}
