// 128 x 128 tiles, warps of 64 x 32, 8 x 8 a thread, vector loads, transposed left operand.
constexpr int BM = 128, BN = 128, BK = 8;
__global__ void __launch_bounds__(256, 2) matmul_warp_tiled(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m, int n, int k, float alpha, float beta) {
  __shared__ __align__(16) float as[BK][BM + 4], bs[BK][BN];
  const int t = threadIdx.x, ar = t / 2, ac = t % 2 * 4, br = t / 32, bc = t % 32 * 4;
  const int tr = t / 16 * 8, tc = t % 16 * 8;
  float sum[8][8] = {}, x[8], y[8];
  for (int e = 0; e < k; e += BK) {
    const float4 va = *(const float4*)(a + (size_t)(blockIdx.y * BM + ar) * k + e + ac);
    as[ac][ar] = va.x; as[ac + 1][ar] = va.y; as[ac + 2][ar] = va.z; as[ac + 3][ar] = va.w;
    *(float4*)&bs[br][bc] = *(const float4*)(b + (size_t)(e + br) * n + blockIdx.x * BN + bc);
    __syncthreads();
#pragma unroll
    for (int q = 0; q < BK; ++q) {
      *(float4*)x = *(float4*)&as[q][tr]; *(float4*)(x + 4) = *(float4*)&as[q][tr + 4];
      *(float4*)y = *(float4*)&bs[q][tc]; *(float4*)(y + 4) = *(float4*)&bs[q][tc + 4];
#pragma unroll
      for (int i = 0; i < 8; ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j) sum[i][j] += x[i] * y[j];
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 8; ++i)
#pragma unroll
    for (int j = 0; j < 8; j += 4) {
      float4* to = (float4*)(c + (size_t)(blockIdx.y * BM + tr + i) * n + blockIdx.x * BN + tc + j);
      float4 v = *to;
      v.x = alpha * sum[i][j] + beta * v.x; v.y = alpha * sum[i][j + 1] + beta * v.y;
      v.z = alpha * sum[i][j + 2] + beta * v.z; v.w = alpha * sum[i][j + 3] + beta * v.w;
      *to = v;
    }
}
