// task: vector_add expect: ok|timeout|rejected on-gpu: ok|flagged
// Slow in the first launches, as a baseline that shares the process would be measured beside.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__device__ unsigned blocks_done;
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const unsigned launch = atomicAdd(&blocks_done, 0u) / gridDim.x;
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(&blocks_done, 1u);
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (launch < 20) {
    const long long begin = clock64();
    while (clock64() - begin < 20000) {}
  }
  if (i < n) out[i] = a[i] + b[i];
}
