// arch: sm_80
// mma of TF32.
__global__ void matmul_mma_tf32(const float* a, const float* b, float* c, int n, int k) {
  const int g = threadIdx.x / 4, t = threadIdx.x % 4, r = blockIdx.y * 16 + g, j = blockIdx.x * 8;
  float d[4] = {};
  for (int e = 0; e < k; e += 8) {
    unsigned x[4], y[2];
    const float from[6] = {a[r * k + e + t], a[(r + 8) * k + e + t], a[r * k + e + t + 4], a[(r + 8) * k + e + t + 4], b[(e + t) * n + j + g], b[(e + t + 4) * n + j + g]};
    for (int i = 0; i < 4; ++i) asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(x[i]) : "f"(from[i]));
    for (int i = 0; i < 2; ++i) asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(y[i]) : "f"(from[4 + i]));
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
  }
  for (int i = 0; i < 4; ++i) c[(r + i / 2 * 8) * n + j + t * 2 + i % 2] = d[i];
}
