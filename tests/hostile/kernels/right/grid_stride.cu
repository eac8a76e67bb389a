// task: vector_add expect: ok
// @launch kern<<<3, 96>>>(a, b, out, n)
__global__ void __launch_bounds__(96) kern(const float* __restrict__ a, const float* __restrict__ b,
                                           float* __restrict__ out, long long n) {
  for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x)
    out[i] = a[i] + b[i];
}
