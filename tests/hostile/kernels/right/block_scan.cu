// task: prefix_sum expect: ok
// Three launches: scan of blocks, scan of their sums, addition; dynamic shared memory, double buffer.
// @scratch sums float[ceil_div(n, 256)]
// @launch scan_blocks<<<ceil_div(n, 256), 256, 2 * 256 * 4>>>(x, y, sums, n)
// @launch scan_sums<<<1, 32>>>(sums, sums.size)
// @launch add_sums<<<ceil_div(n, 256), 256>>>(y, sums, n)
__global__ void scan_blocks(const float* x, float* y, float* sums, int n) {
  extern __shared__ float buffer[];
  const int i = blockIdx.x * 256 + threadIdx.x;
  int from = 0;
  buffer[threadIdx.x] = i < n ? x[i] : 0.f;
  __syncthreads();
  for (int d = 1; d < 256; d *= 2) {
    const int to = 1 - from;
    buffer[to * 256 + threadIdx.x] = buffer[from * 256 + threadIdx.x] + (threadIdx.x >= d ? buffer[from * 256 + threadIdx.x - d] : 0.f);
    from = to;
    __syncthreads();
  }
  if (i < n) y[i] = buffer[from * 256 + threadIdx.x];
  if (threadIdx.x == 255) sums[blockIdx.x] = buffer[from * 256 + 255];
}
__global__ void scan_sums(float* sums, int m) {
  float carry = 0;
  for (int base = 0; base < m; base += 32) {
    const int i = base + threadIdx.x;
    float v = i < m ? sums[i] : 0.f;
    for (int d = 1; d < 32; d *= 2) { const float o = __shfl_up_sync(0xffffffffu, v, d); if (threadIdx.x >= d) v += o; }
    v += carry;
    if (i < m) sums[i] = v;
    carry = __shfl_sync(0xffffffffu, v, 31);
  }
}
__global__ void add_sums(float* y, const float* sums, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n && blockIdx.x > 0) y[i] += sums[blockIdx.x - 1];
}
