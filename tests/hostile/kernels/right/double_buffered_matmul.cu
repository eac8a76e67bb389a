// task: matmul expect: ok
// Two buffers of tiles: the next is loaded while this one is used, one barrier a step.
// @launch kern<<<dim3(ceil_div(n, 16), ceil_div(m, 16)), dim3(16, 16)>>>(a, b, c, m, n, k)
__global__ void kern(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float left[2][16][17], right[2][16][17];
  const int tx = threadIdx.x, ty = threadIdx.y, r = blockIdx.y * 16 + ty, j = blockIdx.x * 16 + tx;
  const auto load = [&](int to, int base) {
    left[to][ty][tx] = r < m && base + tx < k ? a[r * k + base + tx] : 0;
    right[to][ty][tx] = j < n && base + ty < k ? b[(base + ty) * n + j] : 0;
  };
  load(0, 0);
  __syncthreads();
  float sum = 0;
  int now = 0;
  for (int base = 0; base < k; base += 16, now ^= 1) {
    if (base + 16 < k) load(now ^ 1, base + 16);
    for (int e = 0; e < 16; ++e) sum += left[now][ty][e] * right[now][e][tx];
    __syncthreads();
  }
  if (r < m && j < n) c[r * n + j] = sum;
}
