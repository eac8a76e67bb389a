// task: matmul expect: runtime_fault on-gpu: runtime_fault|wrong_result|nondeterministic|ok
// A tile is overwritten while other warps still read it.
// @launch kern<<<dim3(ceil_div(n, 16), ceil_div(m, 16)), dim3(16, 16)>>>(a, b, c, m, n, k)
__global__ void kern(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float left[16][16], right[16][16];
  const int tx = threadIdx.x, ty = threadIdx.y, r = blockIdx.y * 16 + ty, j = blockIdx.x * 16 + tx;
  float sum = 0;
  for (int base = 0; base < k; base += 16) {
    left[ty][tx] = r < m && base + tx < k ? a[r * k + base + tx] : 0;
    right[ty][tx] = j < n && base + ty < k ? b[(base + ty) * n + j] : 0;
    __syncthreads();
    for (int e = 0; e < 16; ++e) sum += left[ty][e] * right[e][tx];
  }
  if (r < m && j < n) c[r * n + j] = sum;
}
