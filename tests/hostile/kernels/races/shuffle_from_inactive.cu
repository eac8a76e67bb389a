// task: vector_add expect: runtime_fault|wrong_result|nondeterministic on-gpu: runtime_fault|wrong_result|nondeterministic|ok
// Uses a value shuffled from a lane that does not take part.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  float v = i < n ? a[i] + b[i] : 0;
  if (threadIdx.x % 2 == 0) v = __shfl_sync(__activemask(), v, threadIdx.x % 32 + 1);
  if (i < n) out[i] = v;
}
