// emulate: --launch 'gather<<<1, 64>>>(x, y, pitch)' --buffer x=f32[1024]:ones --buffer y=f32[64] --value pitch=50000000
// fault: illegal_address 6
// The product of row and pitch does not fit in 32 bits.
__global__ void gather(const float* x, float* y, int pitch) {
  int offset = threadIdx.x * pitch;
  y[threadIdx.x] = x[offset / 50000000 * 16];
}
