// emulate: --launch 'set<<<1, 2048>>>(y)' --buffer y=i32[2048]
// refused: block.x is 2048
// A block has at most 1024 threads.
__global__ void set(int* y) { y[threadIdx.x] = threadIdx.x; }
