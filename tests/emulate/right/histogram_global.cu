// emulate: --launch 'histogram<<<4, 128>>>(data, bins, n)' --buffer data=u8[1024]:7 --buffer bins=u32[16]:zeros --value n=1024
// holds: bins = 0 0 0 0 0 0 0 1024
// Every thread counts into global memory by atomics.
__global__ void histogram(const unsigned char* data, unsigned int* bins, int n) {
  int stride = blockDim.x * gridDim.x;
  for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += stride) atomicAdd(&bins[data[i] & 15], 1);
}
