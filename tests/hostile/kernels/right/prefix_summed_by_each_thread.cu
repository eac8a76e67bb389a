// task: prefix_sum expect: ok on-gpu: ok|timeout
// What is written first: every thread adds up all that is before it. At sizes far beyond the shown
// ones this takes more work than an endless loop may.
// @launch prefix<<<ceil_div(n, 192), 192>>>(x, y, n)
__global__ void prefix(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = x[0];
  for (int j = 1; j <= i; j++) sum += x[j];
  y[i] = sum;
}
