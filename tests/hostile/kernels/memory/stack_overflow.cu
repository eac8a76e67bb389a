// task: vector_add expect: runtime_fault
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__device__ __noinline__ float deep(float x, int k) {
  volatile float big[256];
  big[k % 256] = x;
  return k == 0 ? x : deep(x, k - 1) + big[k % 256] * 0.0f;
}
__global__ void kern(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = deep(a[i], 1000000) + b[i];
}
