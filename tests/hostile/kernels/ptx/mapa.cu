// task: vector_add expect: ok|runtime_fault|rejected|compile_error on-gpu: ok|runtime_fault|rejected|compile_error
// Shared memory of another block of the cluster.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  __shared__ unsigned s;
  s = 1;
  const unsigned at = (unsigned)__cvta_generic_to_shared(&s);
  unsigned far, v;
  asm volatile("mapa.shared::cluster.u32 %0, %1, 1;" : "=r"(far) : "r"(at));
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(v) : "r"(far) : "memory");
  n += v == 123456789;
  if (i < n) out[i] = a[i] + b[i];
}
