// emulate: --launch 'keep<<<1, 1>>>()' --launch 'use<<<1, 32>>>(y)' --buffer y=i32[32]
// fault: illegal_address 10
// The first kernel stores the address of a local variable, which is gone in the second.
__device__ int* kept;
__global__ void keep() {
  int local[32];
  for (int i = 0; i < 32; ++i) local[i] = i * clock();
  kept = local;
}
__global__ void use(int* y) { y[threadIdx.x] = kept[threadIdx.x]; }
