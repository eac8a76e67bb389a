// task: row_sum expect: runtime_fault|compile_error|timeout on-gpu: runtime_fault|timeout|wrong_result
// A frame for every element, each of a kilobyte.
// @launch kern<<<rows, 1>>>(x, y, cols)
__device__ __noinline__ float sum_of(const float* x, int n, int depth) {
  volatile float kept[256];
  kept[depth & 255] = x[n % 7];
  return depth == 0 ? 0.0f : kept[depth & 255] * 0 + sum_of(x, n, depth - 1) + kept[depth & 255];
}
__global__ void kern(const float* x, float* y, int cols) { y[blockIdx.x] = sum_of(x + blockIdx.x * cols, cols, 1 << 20); }
