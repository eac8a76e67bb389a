// task: vector_add expect: ok|launch_error|rejected max-speedup: 1.1
// Shared memory that lowers the occupancy of every block.
// @launch kern<<<ceil_div(n, 128), 128, 40000>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  extern __shared__ float s[];
  const int i = blockIdx.x * 128 + threadIdx.x;
  s[threadIdx.x] = i < n ? a[i] : 0;
  if (i < n) out[i] = s[threadIdx.x] + b[i];
}
