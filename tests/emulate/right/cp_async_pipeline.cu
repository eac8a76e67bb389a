// emulate: --launch 'copy<<<2, 64>>>(x, y)' --buffer x=i32[512]:arange --buffer y=i32[512]
// holds: y = 0 2 4 6 8 10 12 14
// Asynchronous copies into two buffers of shared memory, one ahead of the computation.
#include <cuda_pipeline.h>
__global__ void copy(const int* x, int* y) {
  __shared__ int s[2][64];
  const int* in = x + blockIdx.x * 256;
  int t = threadIdx.x;
  __pipeline_memcpy_async(&s[0][t], &in[t], sizeof(int));
  __pipeline_commit();
  for (int k = 0; k < 4; ++k) {
    if (k + 1 < 4) {
      __pipeline_memcpy_async(&s[(k + 1) % 2][t], &in[(k + 1) * 64 + t], sizeof(int));
      __pipeline_commit();
      __pipeline_wait_prior(1);
    } else {
      __pipeline_wait_prior(0);
    }
    __syncthreads();
    y[blockIdx.x * 256 + k * 64 + t] = s[k % 2][63 - (63 - t)] * 2;
    __syncthreads();
  }
}
