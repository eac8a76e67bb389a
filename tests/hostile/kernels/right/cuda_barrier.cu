// task: row_sum expect: ok|rejected min-speedup: 1
// cuda::barrier of a block: arrive, then wait with the token.
// @launch kern<<<rows, 64>>>(x, y, cols)
#include <cuda/barrier>
__global__ void kern(const float* x, float* y, int cols) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ float part[64];
  if (threadIdx.x == 0) init(&barrier, 64);
  __syncthreads();
  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += 64) sum += x[blockIdx.x * cols + c];
  part[threadIdx.x] = sum;
  auto token = barrier.arrive();
  barrier.wait(cuda::std::move(token));
  if (threadIdx.x == 0) {
    for (int t = 1; t < 64; ++t) sum += part[t];
    y[blockIdx.x] = sum;
  }
}
