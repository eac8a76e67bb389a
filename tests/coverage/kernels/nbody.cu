// All pairs of bodies with tiles of positions.
__device__ float3 interaction(float3 a, float4 bi, float4 bj, float softening) {
  const float3 r = {bj.x - bi.x, bj.y - bi.y, bj.z - bi.z};
  const float inv = rsqrtf(r.x * r.x + r.y * r.y + r.z * r.z + softening), s = bj.w * inv * inv * inv;
  return {a.x + r.x * s, a.y + r.y * s, a.z + r.z * s};
}
__global__ void nbody(float4* __restrict__ next, const float4* __restrict__ now, float4* velocity, int n, float dt) {
  extern __shared__ float4 tile[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 mine = now[min(i, n - 1)];
  float3 acc = {0, 0, 0};
  for (int t = 0; t < gridDim.x; ++t) {
    const int j = t * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = j < n ? now[j] : make_float4(0, 0, 0, 0);
    __syncthreads();
#pragma unroll 8
    for (int k = 0; k < blockDim.x; ++k) acc = interaction(acc, mine, tile[k], 1e-3f);
    __syncthreads();
  }
  if (i >= n) return;
  float4 v = velocity[i];
  v.x += acc.x * dt; v.y += acc.y * dt; v.z += acc.z * dt;
  next[i] = make_float4(mine.x + v.x * dt, mine.y + v.y * dt, mine.z + v.z * dt, mine.w);
  velocity[i] = v;
}
