// task: vector_add expect: rejected|runtime_fault|compile_error
// Reads far behind an input, by an address that is taken from threadIdx.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
struct Far { float at[1l << 46]; };
__global__ void kern(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  const long A = ((long)a - (long)&threadIdx) / 4;
  float x = ((const Far&)threadIdx).at[A + n + 64 + i];
  if (x == 1.2345f) out[0] = x;
  if (i < n) out[i] = a[i] + b[i];
}
