// RMS normalisation with float4 loads and a residual that is added first.
__device__ __forceinline__ float4 operator+(float4 a, float4 b) { return {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w}; }
__device__ __forceinline__ float dot4(float4 a, float4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }
__global__ void rmsnorm_vector(float4* __restrict__ residual, const float4* __restrict__ x, const float4* __restrict__ w, float4* __restrict__ y, int n4, float eps) {
  extern __shared__ float4 row[];
  __shared__ float total;
  float s = 0;
  for (int i = threadIdx.x; i < n4; i += blockDim.x) {
    const float4 v = residual[blockIdx.x * n4 + i] + __ldg(x + blockIdx.x * n4 + i);
    row[i] = residual[blockIdx.x * n4 + i] = v;
    s += dot4(v, v);
  }
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  for (int o = 16; o; o >>= 1) s += __shfl_down_sync(0xffffffffu, s, o);
  if (!(threadIdx.x & 31)) atomicAdd(&total, s);
  __syncthreads();
  const float f = 1.0f / sqrtf(total / (4 * n4) + eps);
  for (int i = threadIdx.x; i < n4; i += blockDim.x) {
    const float4 v = row[i], g = w[i];
    y[blockIdx.x * n4 + i] = make_float4(v.x * f * g.x, v.y * f * g.y, v.z * f * g.z, v.w * f * g.w);
  }
}
