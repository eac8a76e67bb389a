// task: vector_add expect: ok|rejected
// Diagnostics switched off and on by pragmas.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
#pragma nv_diag_suppress 177
#pragma nv_diagnostic push
#pragma nv_diagnostic pop
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  int unused;
  if (i < n) out[i] = a[i] + b[i];
}
