// task: prefix_sum expect: ok|wrong_result
// It is wrong for sums of 2^23 and more, which some evaluations draw.
// 64-bit and 128-bit integer arithmetic: a fixed-point scan by add.cc, addc and mul.hi.
// @launch kern<<<1, 1>>>(x, y, n)
__global__ void kern(const float* x, float* y, int n) {
  unsigned low = 0, high = 0;
  for (int i = 0; i < n; ++i) {
    const long long fixed = llrint((double)x[i] * 1099511627776.0);
    const unsigned l = (unsigned)fixed, h = (unsigned)(fixed >> 32);
    asm("add.cc.u32 %0, %0, %2;\n\taddc.u32 %1, %1, %3;" : "+r"(low), "+r"(high) : "r"(l), "r"(h));
    const long long sum = (long long)((unsigned long long)high << 32 | low);
    y[i] = (float)((double)sum / 1099511627776.0 + (double)__mul64hi(sum, 1) * 0.0);
  }
}
