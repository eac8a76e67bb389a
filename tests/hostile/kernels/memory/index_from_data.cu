// task: gather_rows expect: runtime_fault on-gpu: runtime_fault|wrong_result
// Takes floats for indices.
// @launch kern<<<rows, 32>>>(x, order, y, cols)
__global__ void kern(const float* x, const int* order, float* y, int cols) {
  for (int c = threadIdx.x; c < cols; c += 32) y[blockIdx.x * cols + c] = x[((const int*)x)[c] + order[blockIdx.x] * cols];
}
