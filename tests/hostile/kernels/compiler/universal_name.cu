// task: vector_add expect: rejected|compile_error
// Asm spelled with a universal character name.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  \u0061sm("nop");
  if (i < n) out[i] = a[i] + b[i];
}
