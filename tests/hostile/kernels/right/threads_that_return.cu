// task: vector_add expect: ok
// Threads end before a barrier that the others reach: CUDA counts those that have ended.
// @launch kern<<<ceil_div(n, 64), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  __shared__ float s[64];
  const int i = blockIdx.x * 64 + threadIdx.x;
  if (threadIdx.x >= 64) return;
  s[threadIdx.x] = i < n ? a[i] : 0;
  __syncthreads();
  if (i < n) out[i] = s[threadIdx.x] + b[i];
}
