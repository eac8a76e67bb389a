// emulate: --launch 'sum<<<8, 256>>>(x, total, n)' --buffer x=f32[2000]:ones --buffer total=f32[1]:zeros --value n=2000
// holds: total = 2000
// Warps reduce by shuffles, the first warp adds their sums, and one atomic per block does the rest.
__inline__ __device__ float warp_sum(float v) {
  for (int offset = warpSize / 2; offset > 0; offset /= 2) v += __shfl_down_sync(0xffffffff, v, offset);
  return v;
}
__global__ void sum(const float* x, float* total, int n) {
  static __shared__ float of_warp[32];
  float v = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) v += x[i];
  int lane = threadIdx.x % warpSize, warp = threadIdx.x / warpSize;
  v = warp_sum(v);
  if (lane == 0) of_warp[warp] = v;
  __syncthreads();
  v = threadIdx.x < blockDim.x / warpSize ? of_warp[lane] : 0.0f;
  if (warp == 0) v = warp_sum(v);
  if (threadIdx.x == 0) atomicAdd(total, v);
}
