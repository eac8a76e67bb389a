// emulate: --launch 'reduce<<<4, 128, 512>>>(in, partial, n)' --launch 'reduce<<<1, 128, 512>>>(partial, total, 4)'
// emulate: --buffer in=i32[1000]:arange --buffer partial=i32[4] --buffer total=i32[1] --value n=1000
// holds: total = 499500
// Two launches: sums of blocks, then their sum. The shared array is dynamic.
__global__ void reduce(const int* in, int* out, int n) {
  extern __shared__ int s[];
  unsigned tid = threadIdx.x;
  int sum = 0;
  for (int i = blockIdx.x * blockDim.x + tid; i < n; i += gridDim.x * blockDim.x) sum += in[i];
  s[tid] = sum;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half >>= 1) {
    if (tid < half) s[tid] += s[tid + half];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = s[0];
}
