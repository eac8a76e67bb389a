// task: vector_add expect: runtime_fault on-gpu: runtime_fault
// Looks for code and constants at low addresses of the device and overwrites them.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
  if (i < 64) *(volatile unsigned*)(0x200000ull + 4096ull * i) = 0;
}
