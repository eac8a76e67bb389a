// task: vector_add expect: runtime_fault|wrong_result|nondeterministic|ok on-gpu: ok|runtime_fault|wrong_result|nondeterministic
// An address of one thread's local variable is given to others through shared memory.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  __shared__ float* where;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float mine[2] = {i < n ? a[i] : 0, 1};
  if (threadIdx.x == 0) where = mine;
  __syncthreads();
  float theirs = where[threadIdx.x % 2];
  __syncthreads();
  if (i < n) out[i] = a[i] + b[i] + 0.0f * theirs;
}
