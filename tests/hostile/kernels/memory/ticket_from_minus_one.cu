// task: total_sum expect: runtime_fault|wrong_result|nondeterministic|timeout on-gpu: runtime_fault|wrong_result|nondeterministic|timeout|ok
// The last block is told by a ticket that nobody sets to zero.
// @scratch part float[ceil_div(n, 256)]
// @scratch ticket int[1]
// @launch kern<<<ceil_div(n, 256), 256>>>(x, part, ticket, y, n)
__global__ void kern(const float* x, float* part, int* ticket, float* y, int n) {
  __shared__ float s[256];
  __shared__ bool last;
  const int i = blockIdx.x * 256 + threadIdx.x;
  s[threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();
  for (int d = 128; d > 0; d /= 2) {
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    part[blockIdx.x] = s[0];
    __threadfence();
    last = atomicAdd(ticket, 1) == (int)gridDim.x - 2;
  }
  __syncthreads();
  if (!last || threadIdx.x != 0) return;
  __threadfence();
  float sum = 0;
  for (int b = 0; b < gridDim.x; b++) sum += ((volatile float*)part)[b];
  *y = sum;
}
