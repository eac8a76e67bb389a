// task: vector_add expect: rejected|compile_error|resource_limit|timeout|ok
// A million registers, of which few are used.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  asm volatile("{.reg .b64 many<1000000>; mov.b64 many999999, 1;}");
  if (i < n) out[i] = a[i] + b[i];
}
