// task: vector_add expect: runtime_fault|rejected|compile_error
// An immediate offset of two gigabytes, backwards and forwards.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  asm volatile("st.global.u32 [%0+-2147483648], 1; st.global.u32 [%0+2147483644], 1;" :: "l"(out) : "memory");
  if (i < n) out[i] = a[i] + b[i];
}
