// Histograms: 256 bins of bytes, floating ranges, by privatisation and by warps.
__global__ void histogram256(const unsigned* data, unsigned* partial, unsigned n4) {
  __shared__ unsigned s[8][256];
  for (int i = threadIdx.x; i < 8 * 256; i += blockDim.x) (&s[0][0])[i] = 0;
  __syncthreads();
  unsigned* mine = s[threadIdx.x / 32 % 8];
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n4; i += blockDim.x * gridDim.x) {
    const unsigned d = data[i];
    atomicAdd(mine + (d & 0xff), 1);
    atomicAdd(mine + (d >> 8 & 0xff), 1);
    atomicAdd(mine + __byte_perm(d, 0, 0x4442), 1);
    atomicAdd(mine + (d >> 24), 1);
  }
  __syncthreads();
  for (int b = threadIdx.x; b < 256; b += blockDim.x) {
    unsigned sum = 0;
    for (int w = 0; w < 8; ++w) sum += s[w][b];
    partial[blockIdx.x * 256 + b] = sum;
  }
}
__global__ void histogram_float(const float* x, int* bins, int n, float low, float high, int count) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
    const float v = x[i];
    if (!(v >= low && v <= high)) continue;
    const int b = min(count - 1, (int)floorf((v - low) / (high - low) * count));
    const unsigned same = __match_any_sync(__activemask(), b);
    if (__ffs(same) - 1 == (threadIdx.x & 31)) atomicAdd(bins + b, __popc(same));
  }
}
