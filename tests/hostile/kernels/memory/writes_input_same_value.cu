// task: vector_add expect: runtime_fault on-gpu: ok|runtime_fault
// Writes what stands there anyway.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= n) return;
  out[i] = a[i] + b[i];
  *(volatile float*)(a + i) = *(volatile const float*)(a + i);
}
