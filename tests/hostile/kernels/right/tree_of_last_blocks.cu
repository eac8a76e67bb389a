// task: total_sum expect: ok
// Sums go up a tree: at each node the second of two blocks goes on.
// @scratch part float[2 * ceil_div(n, 64) + 16]
// @scratch here int[2 * ceil_div(n, 64)]
// @launch clear<<<ceil_div(here.size, 64), 64>>>(here, here.size)
// @launch kern<<<ceil_div(n, 64), 64>>>(x, part, here, y, n)
__global__ void clear(int* here, int n) { int i = blockIdx.x * 64 + threadIdx.x; if (i < n) here[i] = 0; }
__global__ void kern(const float* x, float* part, int* here, float* y, int n) {
  __shared__ float s[64];
  int i = blockIdx.x * 64 + threadIdx.x, blocks = gridDim.x;
  s[threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();
  if (threadIdx.x) return;
  float sum = 0;
  for (int k = 0; k < 64; k++) sum += s[k];
  int at = blockIdx.x, width = blocks, offset = 0;
  part[at] = sum;
  int base = 0;
  while (width > 1) {
    int parent = at / 2, children = min(2, width - parent * 2);
    __threadfence();
    int came = atomicAdd(&here[base + parent], 1);
    if (came != children - 1) return;
    __threadfence();
    sum = part[offset + parent * 2];
    if (children == 2) sum += part[offset + parent * 2 + 1];
    offset += width; base += (width + 1) / 2; width = (width + 1) / 2; at = parent;
    part[offset + at] = sum;
  }
  *y = sum;
}
