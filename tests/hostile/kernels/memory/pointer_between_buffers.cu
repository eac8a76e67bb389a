// task: vector_add expect: runtime_fault on-gpu: ok|runtime_fault|wrong_result
// One input is reached from the other by the distance of their addresses, through the gap.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  float sum = 0;
  for (const float* p = a; p < b; p += 64) sum += *(volatile const float*)p;
  if (i < n) out[i] = a[i] + b[i] + (sum == 1.2345e30f ? 1.0f : 0.0f);
}
