// emulate: --launch 'histogram<<<1, 256>>>(data, bins)' --buffer data=i32[256]:arange --buffer bins=i32[16]:zeros
// fault: uninitialised_shared 6
// The block's private counters do not start at zero.
__global__ void histogram(const int* data, int* bins) {
  __shared__ int local[16];
  atomicAdd(&local[data[threadIdx.x] % 16], 1);
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}
