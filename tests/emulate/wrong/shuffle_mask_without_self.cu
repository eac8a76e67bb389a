// emulate: --launch 'pass<<<1, 32>>>(x)' --buffer x=i32[32]:arange
// fault: divergent_barrier 5
// All 32 lanes call, but the mask names only sixteen of them.
__global__ void pass(int* x) {
  x[threadIdx.x] = __shfl_xor_sync(0x0000ffff, x[threadIdx.x], 1);
}
