// task: transpose expect: ok|rejected|compile_error
// ldmatrix with .trans moves the halves of words: two passes, low and high.
// @launch kern<<<dim3(ceil_div(cols, 8), ceil_div(rows, 8)), 32>>>(x, y, rows, cols)
__device__ unsigned transposed(const unsigned short* tile) {
  const unsigned at = (unsigned)__cvta_generic_to_shared(tile + (threadIdx.x % 8) * 8);
  unsigned r;
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];" : "=r"(r) : "r"(at) : "memory");
  return r;
}
__global__ void kern(const float* x, float* y, int rows, int cols) {
  __shared__ __align__(16) unsigned short low[64], high[64];
  const int r0 = blockIdx.y * 8, c0 = blockIdx.x * 8, lane = threadIdx.x;
  for (int i = lane; i < 64; i += 32) {
    const int r = r0 + i / 8, c = c0 + i % 8;
    const unsigned v = r < rows && c < cols ? __float_as_uint(x[r * cols + c]) : 0;
    low[i] = (unsigned short)v;
    high[i] = (unsigned short)(v >> 16);
  }
  __syncwarp();
  const unsigned l = transposed(low), h = transposed(high);
  for (int k = 0; k < 2; ++k) {
    const int c = c0 + lane / 4, r = r0 + lane % 4 * 2 + k;
    const unsigned v = (l >> 16 * k & 0xffff) | (h >> 16 * k) << 16;
    if (r < rows && c < cols) y[c * rows + r] = __uint_as_float(v);
  }
}
