// task: vector_add expect: rejected|compile_error on-gpu: rejected|compile_error|runtime_fault
// Frees a buffer of the harness.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
  if (i == 0) free(out);
}
