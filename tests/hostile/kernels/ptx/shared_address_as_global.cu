// task: vector_add expect: runtime_fault|rejected|compile_error
// An address of shared memory, used as one of global memory.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  __shared__ float s[4];
  s[i % 4 * 0] = 1;
  const unsigned at = (unsigned)__cvta_generic_to_shared(s);
  asm volatile("st.global.u32 [%0], 1;" :: "l"((unsigned long long)at) : "memory");
  if (i < n) out[i] = a[i] + b[i];
}
