// task: vector_add expect: rejected|compile_error
// Another .version, .target and .address_size.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  asm volatile(".version 1.0\n.target sm_10\n.address_size 32\n");
  if (i < n) out[i] = a[i] + b[i];
}
