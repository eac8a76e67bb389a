// task: vector_add expect: runtime_fault on-gpu: wrong_result|runtime_fault
// Sorts nothing, but writes an input back as it is.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= n) return;
  out[i] = a[i] + b[i];
  ((volatile float*)a)[i] = out[i];
}
