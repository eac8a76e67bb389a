// task: vector_add expect: ok
// Pragmas that silence warnings, as guides recommend them beside barriers in shared memory.
#pragma nv_diag_suppress static_var_with_dynamic_init
#pragma nv_diagnostic push
// @launch add<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void add(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
#pragma nv_diagnostic pop
