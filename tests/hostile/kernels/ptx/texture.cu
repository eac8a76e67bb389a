// task: vector_add expect: rejected|compile_error on-gpu: runtime_fault|ok|rejected|compile_error
// A texture by a handle that is a number.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  float x, y, z, w;
  asm volatile("tex.1d.v4.f32.s32 {%0, %1, %2, %3}, [%4, {%5}];" : "=f"(x), "=f"(y), "=f"(z), "=f"(w) : "l"(0x1234ull), "r"(i));
  n += x == 1.2345e30f;
  if (i < n) out[i] = a[i] + b[i];
}
