// emulate: --launch 'rank<<<8, 32>>>(next, order)' --buffer next=i32[1]:zeros --buffer order=i32[8]
// warning: order_dependent
// The program takes the order of arrival for the order of blocks.
__global__ void rank(int* next, int* order) {
  if (threadIdx.x == 0) order[blockIdx.x] = atomicAdd(next, 1);
}
