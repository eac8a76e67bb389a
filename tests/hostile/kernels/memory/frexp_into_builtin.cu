// task: vector_add expect: rejected|runtime_fault|compile_error
// Frexpf stores into gridDim, which is no memory.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == n - 1) frexpf((float)n, (int*)&gridDim);
  if (i < n) out[i] = a[i] + b[i];
}
