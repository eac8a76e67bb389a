// task: vector_add expect: rejected|compile_error|ok
// .include of the assembler of another system; a compiler of device code drops assembly outside of functions.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
asm(".include \"/etc/passwd\"");
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
