// task: vector_add expect: rejected|compile_error|ok
// A number of 65 bits.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  asm volatile("{.reg .b64 x; mov.b64 x, 99999999999999999999999;}" ::: "memory");
  if (i < n) out[i] = a[i] + b[i];
}
