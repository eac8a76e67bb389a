// arch: sm_80
// mma.m16n8k16 with ldmatrix and cp.async in two stages.
#include <cuda_fp16.h>
__device__ __forceinline__ void cp16(void* to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"((unsigned)__cvta_generic_to_shared(to)), "l"(from));
}
__global__ void matmul_mma_fp16(const __half* a, const __half* b, float* c, int m, int n, int k) {
  __shared__ __align__(16) __half as[2][16][24], bs[2][16][24];
  const int lane = threadIdx.x, r = lane / 2, h = lane % 2 * 8;
  float d[2][4] = {};
  cp16(&as[0][r][h], a + (size_t)(blockIdx.y * 16 + r) * k + h);
  cp16(&bs[0][r][h], b + (size_t)r * n + blockIdx.x * 16 + h);
  asm volatile("cp.async.commit_group;");
  for (int e = 0, s = 0; e < k; e += 16, s ^= 1) {
    if (e + 16 < k) {
      cp16(&as[s ^ 1][r][h], a + (size_t)(blockIdx.y * 16 + r) * k + e + 16 + h);
      cp16(&bs[s ^ 1][r][h], b + (size_t)(e + 16 + r) * n + blockIdx.x * 16 + h);
      asm volatile("cp.async.commit_group;\ncp.async.wait_group 1;");
    } else {
      asm volatile("cp.async.wait_group 0;");
    }
    __syncwarp();
    unsigned fa[4], fb[4];
    const unsigned pa = (unsigned)__cvta_generic_to_shared(&as[s][lane % 16][lane / 16 * 8]);
    const unsigned pb = (unsigned)__cvta_generic_to_shared(&bs[s][lane % 16][lane / 16 * 8]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3]) : "r"(pa));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(fb[0]), "=r"(fb[1]), "=r"(fb[2]), "=r"(fb[3]) : "r"(pb));
#pragma unroll
    for (int t = 0; t < 2; ++t)
      asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                   : "+f"(d[t][0]), "+f"(d[t][1]), "+f"(d[t][2]), "+f"(d[t][3]) : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[2 * t]), "r"(fb[2 * t + 1]));
    __syncwarp();
  }
#pragma unroll
  for (int t = 0; t < 2; ++t)
#pragma unroll
    for (int i = 0; i < 4; ++i) c[(size_t)(blockIdx.y * 16 + lane / 4 + i / 2 * 8) * n + blockIdx.x * 16 + t * 8 + lane % 4 * 2 + i % 2] = d[t][i];
}
