// task: vector_add expect: ok on-gpu: flagged|wrong_result
// Does a little less from the fifth launch on.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__device__ unsigned blocks_done;
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const unsigned launch = *(volatile unsigned*)&blocks_done / gridDim.x;
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(&blocks_done, 1u);
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n && (launch < 4 || i % (launch / 4 + 2) != 0)) out[i] = a[i] + b[i];
}
