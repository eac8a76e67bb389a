// task: vector_add expect: ok|rejected|compile_error
// elect.sync chooses one lane.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  asm volatile("{.reg .b32 who; .reg .pred p; elect.sync who|p, 0xffffffff;}" ::: "memory");
  if (i < n) out[i] = a[i] + b[i];
}
