// emulate: --launch 'forces<<<2, 64>>>(body, force, 128)' --buffer body=f32[128,4]:ones --buffer force=f32[128,3]
// holds: force = 0 0 0 0 0 0
// All bodies are at one place, so that the softened forces vanish; tiles of bodies in shared memory.
__global__ void forces(const float4* body, float3* force, int n) {
  __shared__ float4 tile[64];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 me = body[i];
  float3 sum = make_float3(0, 0, 0);
  for (int t = 0; t < n / 64; ++t) {
    tile[threadIdx.x] = body[t * 64 + threadIdx.x];
    __syncthreads();
#pragma unroll 8
    for (int j = 0; j < 64; ++j) {
      float4 b = tile[j];
      float dx = b.x - me.x, dy = b.y - me.y, dz = b.z - me.z;
      float inv = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-9f);
      float s = b.w * inv * inv * inv;
      sum.x += dx * s;
      sum.y += dy * s;
      sum.z += dz * s;
    }
    __syncthreads();
  }
  force[i] = sum;
}
