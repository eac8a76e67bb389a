// emulate: --launch 'sum<<<2, 64>>>(x, total)' --buffer x=i32[128]:ones --buffer total=i32[1]
// fault: uninitialised_global 4
// Memory from cudaMalloc was not set to zero.
__global__ void sum(const int* x, int* total) { atomicAdd(total, x[blockIdx.x * blockDim.x + threadIdx.x]); }
