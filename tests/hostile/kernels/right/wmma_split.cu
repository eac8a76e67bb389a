// task: matmul expect: ok|rejected|compile_error
// wmma fragments of half: operands split into three halves, six products.
// @launch kern<<<dim3(ceil_div(n, 16), ceil_div(m, 16)), 32>>>(a, b, c, m, n, k)
#include <mma.h>
using namespace nvcuda;
__global__ void kern(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ __half left[3][256], right[3][256];
  __shared__ float result[256];
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  const int r0 = blockIdx.y * 16, c0 = blockIdx.x * 16;
  for (int e0 = 0; e0 < k; e0 += 16) {
    __syncwarp();
    for (int i = threadIdx.x; i < 256; i += 32) {
      const int r = i / 16, e = i % 16;
      float x = r0 + r < m && e0 + e < k ? a[(r0 + r) * k + e0 + e] : 0;
      float y = e0 + r < k && c0 + e < n ? b[(e0 + r) * n + c0 + e] : 0;
      for (int p = 0; p < 3; ++p) {
        left[p][i] = __float2half(x);
        right[p][i] = __float2half(y);
        x -= __half2float(left[p][i]);
        y -= __half2float(right[p][i]);
      }
    }
    __syncwarp();
    for (int p = 2; p >= 0; --p)
      for (int q = 2 - p; q >= 0; --q) {
        wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> x;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> y;
        wmma::load_matrix_sync(x, left[p], 16);
        wmma::load_matrix_sync(y, right[q], 16);
        wmma::mma_sync(sum, x, y, sum);
      }
  }
  wmma::store_matrix_sync(result, sum, 16, wmma::mem_row_major);
  __syncwarp();
  for (int i = threadIdx.x; i < 256; i += 32)
    if (r0 + i / 16 < m && c0 + i % 16 < n) c[(r0 + i / 16) * n + c0 + i % 16] = result[i];
}
