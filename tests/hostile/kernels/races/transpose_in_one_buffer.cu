// task: transpose expect: runtime_fault on-gpu: runtime_fault|wrong_result|nondeterministic|ok
// Two launches' work in one: blocks read what others write.
// @scratch t float[rows * cols]
// @launch kern<<<ceil_div(rows * cols, 64), 64>>>(x, t, y, rows, cols)
__global__ void kern(const float* x, float* t, float* y, int rows, int cols) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  if (i < rows * cols) t[i] = x[i];
  __syncthreads();
  if (i < rows * cols) y[i] = t[i % rows * cols + i / rows];
}
