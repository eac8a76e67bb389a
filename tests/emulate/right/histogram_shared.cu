// emulate: --launch 'histogram<<<4, 256>>>(data, bins, n)' --buffer data=i32[1024]:arange --buffer bins=u32[256]:zeros --value n=1024
// holds: bins = 4 4 4 4 4 4 4 4
// Each block counts in shared memory first.
__global__ void histogram(const int* data, unsigned* bins, int n) {
  __shared__ unsigned local[256];
  local[threadIdx.x] = 0;
  __syncthreads();
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i < n) atomicAdd(&local[data[i] % 256], 1u);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}
