// arch: sm_80
// mma.m16n8k8 of bfloat16, fragments straight from global memory.
#include <cuda_bf16.h>
__device__ unsigned pair(const __nv_bfloat16* p, int step) {
  const __nv_bfloat162 v = __halves2bfloat162(p[0], p[step]);
  return *reinterpret_cast<const unsigned*>(&v);
}
__global__ void matmul_mma_bf16(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c, int n, int k) {
  const int g = threadIdx.x / 4, t = threadIdx.x % 4 * 2, r0 = blockIdx.y * 16, c0 = blockIdx.x * 8;
  float d0 = 0, d1 = 0, d2 = 0, d3 = 0;
  for (int e = 0; e < k; e += 8) {
    const unsigned a0 = pair(a + (r0 + g) * k + e + t, 1), a1 = pair(a + (r0 + g + 8) * k + e + t, 1), b0 = pair(b + (e + t) * n + c0 + g, n);
    asm("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};" : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3) : "r"(a0), "r"(a1), "r"(b0));
  }
  float* to = c + (r0 + g) * n + c0 + t;
  to[0] = d0; to[1] = d1; to[8 * n] = d2; to[8 * n + 1] = d3;
}
