// task: total_sum expect: runtime_fault|wrong_result|nondeterministic on-gpu: runtime_fault|wrong_result|nondeterministic|ok
// Adds to a scratch buffer that nobody cleared.
// @scratch sum float[1]
// @launch add<<<ceil_div(n, 128), 128>>>(x, sum, n)
// @launch end<<<1, 1>>>(sum, y)
__global__ void add(const float* x, float* sum, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) atomicAdd(sum, x[i]);
}
__global__ void end(const float* sum, float* y) { *y = *sum; }
