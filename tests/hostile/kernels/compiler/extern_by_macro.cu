// task: vector_add expect: rejected|compile_error
// Extern through a macro: write of the C library.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
#define EXT extern

EXT "C" long write(int, const void*, unsigned long);
__global__ void kern(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  write(5, "{}", 2);
  if (i < n) out[i] = a[i] + b[i];
}
