// @launch vector_add<<<ceil_div(n, 256), 256>>>(a, b, out, n)
__global__ void vector_add(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  asm volatile("wgmma.fence.sync.aligned;");
  if (i < n) out[i] = a[i] + b[i];
}
