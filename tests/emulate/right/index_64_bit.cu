// emulate: --launch 'iota<<<4, 64>>>(y, n)' --buffer y=i64[200] --value n=200
// holds: y = 0 10000000000 20000000000 30000000000
// Indices and values of 64 bits.
__global__ void iota(long long* y, size_t n) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)blockDim.x * gridDim.x)
    y[i] = static_cast<long long>(i) * 10000000000LL;
}
