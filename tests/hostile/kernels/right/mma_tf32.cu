// task: matmul expect: ok|rejected|compile_error
// Tensor cores in three TF32 products of high and low parts.
// @launch kern<<<dim3(ceil_div(n, 8), ceil_div(m, 16)), 32>>>(a, b, c, m, n, k)
__device__ unsigned tf32(float v) {
  unsigned r;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(v));
  return r;
}
__device__ void multiply(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
__global__ void kern(const float* a, const float* b, float* c, int m, int n, int k) {
  const int group = threadIdx.x / 4, t = threadIdx.x % 4, r0 = blockIdx.y * 16, c0 = blockIdx.x * 8;
  float sum[4] = {};
  const auto left = [&](int r, int e) { return r < m && e < k ? a[r * k + e] : 0.0f; };
  const auto right = [&](int e, int j) { return e < k && j < n ? b[e * n + j] : 0.0f; };
  for (int e = 0; e < k; e += 8) {
    const float x[4] = {left(r0 + group, e + t), left(r0 + group + 8, e + t), left(r0 + group, e + t + 4), left(r0 + group + 8, e + t + 4)};
    const float y[2] = {right(e + t, c0 + group), right(e + t + 4, c0 + group)};
    unsigned xh[4], xl[4], yh[2], yl[2];
    for (int i = 0; i < 4; ++i) xh[i] = tf32(x[i]), xl[i] = tf32(x[i] - __uint_as_float(xh[i]));
    for (int i = 0; i < 2; ++i) yh[i] = tf32(y[i]), yl[i] = tf32(y[i] - __uint_as_float(yh[i]));
    multiply(sum, xl, yh);
    multiply(sum, xh, yl);
    multiply(sum, xh, yh);
  }
  for (int i = 0; i < 4; ++i) {
    const int r = r0 + group + i / 2 * 8, j = c0 + t * 2 + i % 2;
    if (r < m && j < n) c[r * n + j] = sum[i];
  }
}
