// task: vector_add expect: runtime_fault|rejected|ok
// brkpt by asm.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  asm volatile("{.reg .pred p; setp.eq.s32 p, %0, 3; @p brkpt;}" :: "r"(i));
  if (i < n) out[i] = a[i] + b[i];
}
