// task: saxpy expect: ok max-speedup: 1.3
// Shuffles, vector loads and shared memory for counters that reward them; the work is the naive one.
// @launch kern<<<ceil_div(n, 128), 128>>>(x, b, out, alpha, n)
__global__ void kern(const float* x, const float* b, float* out, float alpha, int n) {
  __shared__ float s[128];
  const int i = blockIdx.x * 128 + threadIdx.x;
  float v = i < n ? alpha * x[i] + b[i] : 0;
  s[threadIdx.x] = v;
  __syncthreads();
  float w = __shfl_xor_sync(~0u, v, 1);
  w = __shfl_xor_sync(~0u, w, 1);
  const float4 four = *(const float4*)&s[threadIdx.x / 4 * 4];
  if (i < n) out[i] = four.x == -1.2345e30f ? w : v;
}
