// task: vector_add expect: ok|runtime_fault|timeout|rejected|compile_error
// cp.async.bulk with a barrier that nobody initialised.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  __shared__ __align__(128) float s[128];
  __shared__ unsigned long long bar;
  const unsigned to = (unsigned)__cvta_generic_to_shared(s), at = (unsigned)__cvta_generic_to_shared(&bar);
  if (threadIdx.x == 0)
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 512, [%2];" :: "r"(to), "l"(a), "r"(at) : "memory");
  if (i < n) out[i] = a[i] + b[i];
}
