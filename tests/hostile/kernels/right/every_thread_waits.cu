// task: row_mean expect: ok
// All threads of a block look at the counter themselves, and fence.
// @scratch part float[4]
// @launch clear<<<1, 1>>>()
// @launch kern<<<4, 64>>>(data, out, part, h, w)
__device__ unsigned arrived;
__global__ void clear() { arrived = 0; }
__global__ void kern(const float* data, float* out, float* part, int h, int w) {
  if (threadIdx.x == 5) part[blockIdx.x] = 1.0f / w;
  __syncthreads();
  if (threadIdx.x == 0) { __threadfence(); atomicAdd(&arrived, 1); }
  while (*(volatile unsigned*)&arrived < 4) __nanosleep(10);
  __threadfence();
  float inv = part[(blockIdx.x + 1) % 4];
  for (int r = blockIdx.x; r < h; r += 4) {
    if (threadIdx.x >= 32) continue;
    float s = 0;
    for (int c = threadIdx.x; c < w; c += 32) s += data[r * w + c];
    for (int d = 16; d; d >>= 1) s += __shfl_xor_sync(~0u, s, d);
    if (threadIdx.x == 0) out[r] = s * inv;
  }
}
