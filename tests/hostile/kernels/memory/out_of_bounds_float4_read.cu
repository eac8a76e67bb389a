// task: vector_add expect: runtime_fault on-gpu: ok|runtime_fault
// The last vector of four reaches behind the input; what it brings too much is not used.
// @launch kern<<<ceil_div(n, 4 * 64), 64>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = 4 * (blockIdx.x * 64 + threadIdx.x);
  if (i >= n) return;
  const float4 x = *(const float4*)(a + i), y = *(const float4*)(b + i);
  const float sums[4] = {x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w};
  for (int k = 0; k < 4 && i + k < n; ++k) out[i + k] = sums[k];
}
