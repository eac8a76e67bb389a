// wmma with signed bytes.
#include <mma.h>
using namespace nvcuda;
__global__ void matmul_wmma_int8(const signed char* a, const signed char* b, int* c, int n, int k) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::row_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, int> acc;
  wmma::fill_fragment(acc, 0);
  for (int e = 0; e < k; e += 16) {
    wmma::load_matrix_sync(fa, a + blockIdx.y * 16 * k + e, k);
    wmma::load_matrix_sync(fb, b + e * n + blockIdx.x * 16, n);
    wmma::mma_sync(acc, fa, fb, acc);
  }
  wmma::store_matrix_sync(c + blockIdx.y * 16 * n + blockIdx.x * 16, acc, n, wmma::mem_row_major);
}
