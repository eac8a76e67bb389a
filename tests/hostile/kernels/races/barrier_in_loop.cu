// task: vector_add expect: runtime_fault|timeout|ok on-gpu: ok|timeout|runtime_fault
// Threads go round a loop with a barrier a different number of times.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  for (int k = 0; k < (int)(threadIdx.x & 3); ++k) __syncthreads();
  if (i < n) out[i] = a[i] + b[i];
}
