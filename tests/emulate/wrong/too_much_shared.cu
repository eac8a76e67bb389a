// emulate: --launch 'set<<<1, 64, 300000>>>(y)' --buffer y=i32[64]
// refused: dynamic shared memory is 300000 bytes
// More dynamic shared memory than any GPU has.
extern __shared__ int s[];
__global__ void set(int* y) { y[threadIdx.x] = s[threadIdx.x] = threadIdx.x; }
