// emulate: --launch 'gemm<<<1, 32>>>(a, b, c, 32)' --buffer a=f16[16,32]:ones --buffer b=f16[32,16]:2 --buffer c=f32[16,16]
// holds: c = 64 64 64 64
// One warp multiplies with tensor cores.
#include <mma.h>
using namespace nvcuda;
__global__ void gemm(const half* a, const half* b, float* c, int k) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::fill_fragment(fc, 0.0f);
  for (int i = 0; i < k; i += 16) {
    wmma::load_matrix_sync(fa, a + i, k);
    wmma::load_matrix_sync(fb, b + i * 16, 16);
    wmma::mma_sync(fc, fa, fb, fc);
  }
  wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}
