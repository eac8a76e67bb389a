// task: vector_add expect: rejected|compile_error on-gpu: runtime_fault|ok|rejected|compile_error
// A surface by a handle that is a number.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  asm volatile("sust.b.1d.b32.trap [%0, {%1}], {%2};" :: "l"(0x1234ull), "r"(i), "r"(1) : "memory");
  if (i < n) out[i] = a[i] + b[i];
}
