// task: vector_add expect: runtime_fault|rejected|compile_error on-gpu: runtime_fault|ok|rejected|compile_error
// A store to local memory at an address of its own choice.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  asm volatile("st.local.u32 [%0], 1;" :: "r"(0x00fffff0u) : "memory");
  if (i < n) out[i] = a[i] + b[i];
}
