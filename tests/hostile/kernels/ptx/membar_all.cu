// task: vector_add expect: ok|rejected|compile_error
// Fences of all kinds, the proxies' too.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  asm volatile("membar.cta; membar.gl; membar.sys; fence.proxy.alias; fence.acq_rel.gpu; fence.sc.sys;" ::: "memory");
  if (i < n) out[i] = a[i] + b[i];
}
