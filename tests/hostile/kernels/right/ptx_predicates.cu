// task: leaky_relu expect: ok
// A scope of its own with a predicate, setp, selp and a guarded instruction.
// @launch kern<<<ceil_div(n, 128), 128>>>(p, q, slope, n)
__global__ void kern(const float* p, float* q, float slope, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= n) return;
  float v = p[i], r;
  asm("{\n\t"
      ".reg .pred negative;\n\t"
      ".reg .f32 scaled;\n\t"
      "mul.f32 scaled, %1, %2;\n\t"
      "setp.lt.f32 negative, %1, scaled;\n\t"
      "mov.f32 %0, %1;\n\t"
      "@negative mov.f32 %0, scaled;\n\t"
      "}" : "=&f"(r) : "f"(v), "f"(slope));
  q[i] = r;
}
