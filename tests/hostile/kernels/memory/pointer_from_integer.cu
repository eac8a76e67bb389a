// task: vector_add expect: runtime_fault
// Addresses made of numbers.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  float found = 0;
  for (unsigned long long at = 0x1000; at < 1ull << 47; at = at * 3 & ~3ull) found += *(volatile float*)at;
  if (i < n) out[i] = a[i] + b[i] + 0.0f * found;
}
