// task: total_max expect: ok
// Labels and a loop inside of one asm statement; %= keeps the labels apart when it is copied.
// @launch kern<<<1, 32>>>(a, res, N)
__global__ void kern(const float* a, float* res, int N) {
  float best = -INFINITY;
  int i = threadIdx.x;
  asm volatile("{\n\t"
      ".reg .pred more;\n\t"
      ".reg .f32 v;\n\t"
      ".reg .b64 at;\n\t"
      "again_%=:\n\t"
      "setp.lt.s32 more, %1, %2;\n\t"
      "@!more bra done_%=;\n\t"
      "mad.wide.s32 at, %1, 4, %3;\n\t"
      "ld.global.f32 v, [at];\n\t"
      "max.f32 %0, %0, v;\n\t"
      "add.s32 %1, %1, 32;\n\t"
      "bra again_%=;\n\t"
      "done_%=:\n\t"
      "}" : "+f"(best), "+r"(i) : "r"(N), "l"(a) : "memory");
  for (int d = 16; d > 0; d /= 2) best = fmaxf(best, __shfl_xor_sync(~0u, best, d));
  if (threadIdx.x == 0) *res = best;
}
