// task: vector_add expect: runtime_fault on-gpu: runtime_fault|wrong_result|flagged
// Changes an input once it has used it, in every launch but the first.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= n) return;
  out[i] = a[i] + b[i];
  if (i == n - 1) ((volatile float*)b)[0] = -b[0];
}
