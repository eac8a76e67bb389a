// emulate: --launch 'shift<<<1, 16>>>(x, y)' --buffer x=f32[80]:ones --buffer y=f32[64]
// fault: misaligned 6
// A vector load from an address that is not a multiple of 16.
__global__ void shift(const float* x, float* y) {
  const float4* from = reinterpret_cast<const float4*>(x + 1);
  reinterpret_cast<float4*>(y)[threadIdx.x] = from[threadIdx.x];
}
