// emulate: --launch 'histogram<<<4, 64>>>(x, bins)' --buffer x=i32[256]:arange --buffer bins=i32[8]:zeros
// fault: data_race 6
// Counters are incremented without atomics.
__global__ void histogram(const int* x, int* bins) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  bins[x[i] % 8]++;
}
