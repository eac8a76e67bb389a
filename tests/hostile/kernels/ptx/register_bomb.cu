// task: vector_add expect: rejected|compile_error|resource_limit|timeout|runtime_fault|ok
// Four thousand million registers.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  asm volatile("{.reg .b64 many<4000000000>; mov.b64 many3999999999, 1;}");
  if (i < n) out[i] = a[i] + b[i];
}
