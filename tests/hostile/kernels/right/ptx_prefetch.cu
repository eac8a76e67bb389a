// task: saxpy expect: ok
// prefetch.global.L2 and prefetch.global.L1, prefetchu: hints without a result.
// @launch kern<<<4, 128>>>(x, b, out, alpha, n)
__global__ void kern(const float* x, const float* b, float* out, float alpha, int n) {
  for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += 512) {
    if (i + 512 < n) {
      asm volatile("prefetch.global.L2 [%0];" :: "l"(x + i + 512));
      asm volatile("prefetch.global.L1 [%0];" :: "l"(b + i + 512));
    }
    out[i] = alpha * x[i] + b[i];
  }
}
