// emulate: --launch 'copy<<<1, 64>>>(x, y)' --buffer x=i32[64]:arange --buffer y=i32[64]
// fault: data_race 7|10
// A barrier does not wait for asynchronous copies; __pipeline_wait_prior is missing.
#include <cuda_pipeline.h>
__global__ void copy(const int* x, int* y) {
  __shared__ int s[64];
  __pipeline_memcpy_async(&s[threadIdx.x], &x[threadIdx.x], 4);
  __pipeline_commit();
  __syncthreads();
  y[threadIdx.x] = s[63 - threadIdx.x];
}
