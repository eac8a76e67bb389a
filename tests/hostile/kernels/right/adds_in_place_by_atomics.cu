// task: axpy_inplace expect: ok
// Loads x alone: y is read by the atomics that add to it.
// @launch axpy<<<min(64, ceil_div(n, 128)), 128>>>(x, y, alpha, n)
__global__ void axpy(const float* x, float* y, float alpha, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&y[i], alpha * x[i]);
}
