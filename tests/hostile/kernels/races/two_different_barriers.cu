// task: vector_add expect: runtime_fault on-gpu: ok|timeout|runtime_fault
// Halves of a warp wait at different barriers.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  __shared__ float s[128];
  s[threadIdx.x] = i < n ? a[i] : 0;
  if (threadIdx.x & 1) {
    __syncthreads();
    s[threadIdx.x] += 0.0f;
  } else {
    s[threadIdx.x] *= 1.0f;
    __syncthreads();
  }
  if (i < n) out[i] = s[threadIdx.x] + b[i];
}
