// task: vector_add expect: runtime_fault|wrong_result|nondeterministic on-gpu: runtime_fault|wrong_result|nondeterministic
// The sums are taken from the shared memory that an earlier block may have left.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  __shared__ volatile float kept[128];
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) out[i] = kept[threadIdx.x];
  __syncthreads();
  if (i < n) kept[threadIdx.x] = a[i] + b[i];
}
