// task: vector_mul expect: ok on-gpu: flagged|wrong_result
// From the hundredth launch on, one element is left out.
// @launch kern<<<ceil_div(len, 128), 128>>>(u, v, res, len)
__device__ unsigned blocks_done;
__global__ void kern(const float* u, const float* v, float* res, int len) {
  const unsigned launch = *(volatile unsigned*)&blocks_done / gridDim.x;
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(&blocks_done, 1u);
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < len && !(launch > 100 && i == 777)) res[i] = u[i] * v[i];
}
