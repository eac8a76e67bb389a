// emulate: --launch 'dot<<<4, 64>>>(a, b, out, n)' --buffer a=i32[200]:ones --buffer b=i32[200]:arange --buffer out=i32[1]:zeros --value n=200
// holds: out = 19900
// The dot product of a textbook: products in a cache, a tree, one atomic addition per block.
#define THREADS 64
__global__ void dot(int* a, int* b, int* out, int n) {
  __shared__ int cache[THREADS];
  int i = threadIdx.x + blockIdx.x * blockDim.x, temp = 0;
  while (i < n) {
    temp += a[i] * b[i];
    i += blockDim.x * gridDim.x;
  }
  cache[threadIdx.x] = temp;
  __syncthreads();
  int step = blockDim.x / 2;
  while (step != 0) {
    if (threadIdx.x < step) cache[threadIdx.x] += cache[threadIdx.x + step];
    __syncthreads();
    step /= 2;
  }
  if (threadIdx.x == 0) atomicAdd(out, cache[0]);
}
