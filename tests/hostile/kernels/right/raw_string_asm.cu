// task: vector_add expect: ok
// Assembly as a raw string of several lines.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= n) return;
  float sum;
  asm volatile(R"ptx({
    .reg .f32 t;
    mov.f32 t, %1;  // "left"
    add.f32 %0, t, %2;
  })ptx" : "=f"(sum) : "f"(a[i]), "f"(b[i]));
  out[i] = sum;
}
