// task: stencil_1d expect: runtime_fault on-gpu: runtime_fault|wrong_result|nondeterministic|ok
// Reads the neighbours' elements of a tile with no synchronisation at all.
// @launch kern<<<ceil_div(n, 30), 32>>>(x, y, n)
__global__ void kern(const float* x, float* y, int n) {
  __shared__ float tile[32];
  const int i = blockIdx.x * 30 + threadIdx.x - 1;
  tile[threadIdx.x] = i >= 0 && i < n ? x[i] : 0;
  if (threadIdx.x > 0 && threadIdx.x < 31 && i < n)
    y[i] = (tile[threadIdx.x - 1] + tile[threadIdx.x] + tile[threadIdx.x + 1]) / 3.0f;
}
