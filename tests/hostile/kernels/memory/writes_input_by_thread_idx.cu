// task: vector_add expect: rejected|runtime_fault|compile_error|wrong_result
// A store to an input, by an address that is taken from threadIdx.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
struct Far { float at[1l << 46]; };
__global__ void kern(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  const long A = ((long)a - (long)&threadIdx) / 4;
  if (i < n) ((Far&)threadIdx).at[A + i] = 0;
  if (i < n) out[i] = a[i] + b[i];
}
