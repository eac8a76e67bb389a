// emulate: --launch 'phases<<<4, 32>>>(x, arrived)' --buffer x=i32[4]:ones --buffer arrived=i32[1]:zeros
// fault: data_race 6|10
// A grid-wide barrier of atomics without fences does not order what the blocks wrote before.
__global__ void phases(int* x, int* arrived) {
  if (threadIdx.x == 0) {
    x[blockIdx.x] = blockIdx.x * 10;
    atomicAdd(arrived, 1);
    while (atomicAdd(arrived, 0) < gridDim.x) {
    }
    x[blockIdx.x] += x[(blockIdx.x + 1) % gridDim.x];
  }
}
