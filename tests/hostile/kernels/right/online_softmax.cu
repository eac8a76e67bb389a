// task: softmax_rows expect: ok
// One pass with a pair of maximum and sum, combined through shuffles and shared memory.
// @launch kern<128><<<rows, 128>>>(x, y, cols)
struct MS { float m, s; };
__device__ __forceinline__ MS join(MS a, MS b) {
  const MS& big = a.m >= b.m ? a : b; const MS& low = a.m >= b.m ? b : a;
  if (big.m == -INFINITY) return big;
  return MS{big.m, big.s + low.s * __expf(low.m - big.m)};
}
template <int kThreads> __global__ void kern(const float* __restrict__ x, float* __restrict__ y, int cols) {
  x += (size_t)blockIdx.x * cols; y += (size_t)blockIdx.x * cols;
  MS v{-INFINITY, 0.f};
  for (int c = threadIdx.x; c < cols; c += kThreads) v = join(v, MS{x[c], 1.f});
#pragma unroll
  for (int d = 16; d; d >>= 1) v = join(v, MS{__shfl_xor_sync(~0u, v.m, d), __shfl_xor_sync(~0u, v.s, d)});
  __shared__ MS warp[kThreads / 32];
  if ((threadIdx.x & 31) == 0) warp[threadIdx.x >> 5] = v;
  __syncthreads();
  v = warp[0];
#pragma unroll
  for (int w = 1; w < kThreads / 32; ++w) v = join(v, warp[w]);
  const float inverse = __fdividef(1.f, v.s);
  for (int c = threadIdx.x; c < cols; c += kThreads) y[c] = __expf(x[c] - v.m) * inverse;
}
