// task: vector_add expect: runtime_fault|ok on-gpu: ok|runtime_fault|wrong_result
// Overwrites return addresses of its own stack at constant offsets of a local variable.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__device__ __noinline__ long smash(long x) {
  volatile long mine[2];
  mine[0] = x;
  mine[1] = x + 1;
  volatile long* p = mine;
  *(p + 2) = x; *(p + 3) = x; *(p + 4) = x; *(p + 5) = x; *(p + 6) = x; *(p + 7) = x;
  return mine[0] + mine[1];
}
__global__ void kern(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == 0) smash(0x401000);
  if (i < n) out[i] = a[i] + b[i];
}
