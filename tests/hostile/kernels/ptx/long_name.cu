// task: vector_add expect: rejected|compile_error|ok|resource_limit
// A name of a hundred thousand characters.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
#define L1 "aaaaaaaaaa"
#define L2 L1 L1 L1 L1 L1 L1 L1 L1 L1 L1
#define L3 L2 L2 L2 L2 L2 L2 L2 L2 L2 L2
#define L4 L3 L3 L3 L3 L3 L3 L3 L3 L3 L3 L3 L3 L3 L3 L3 L3 L3 L3 L3 L3
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  asm volatile("{.reg .b32 " L4 "; mov.b32 " L4 ", 1;}");
  if (i < n) out[i] = a[i] + b[i];
}
