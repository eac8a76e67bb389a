// Tensor cores by wmma, half in, float out, fragments from shared memory.
#include <mma.h>
using namespace nvcuda;
__global__ void matmul_wmma(const half* a, const half* b, float* c, int m, int n, int k) {
  const int warp_m = (blockIdx.x * blockDim.x + threadIdx.x) / 32, warp_n = blockIdx.y * blockDim.y + threadIdx.y;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;
  wmma::fill_fragment(acc, 0.0f);
  for (int i = 0; i < k; i += 16) {
    if (warp_m * 16 < m && warp_n * 16 < n) {
      wmma::load_matrix_sync(fa, a + warp_m * 16 * k + i, k);
      wmma::load_matrix_sync(fb, b + warp_n * 16 * k + i, k);
      wmma::mma_sync(acc, fa, fb, acc);
    }
  }
  for (int i = 0; i < acc.num_elements; ++i) acc.x[i] *= 0.5f;
  if (warp_m * 16 < m && warp_n * 16 < n) wmma::store_matrix_sync(c + warp_m * 16 * n + warp_n * 16, acc, n, wmma::mem_row_major);
}
