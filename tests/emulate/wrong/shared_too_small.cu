// emulate: --launch 'stage<<<1, 128, 256>>>(x, y)' --buffer x=f32[128]:ones --buffer y=f32[128]
// fault: illegal_address 6
// The launch gives 256 bytes of dynamic shared memory; the block needs 512.
__global__ void stage(const float* x, float* y) {
  extern __shared__ float s[];
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = s[127 - threadIdx.x];
}
