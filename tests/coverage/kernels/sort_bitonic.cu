// Bitonic sorting: steps in global memory, blocks in shared memory, keys with values.
__device__ void comparator(unsigned& ka, unsigned& va, unsigned& kb, unsigned& vb, unsigned dir) {
  if ((ka > kb) == dir) {
    unsigned t = ka; ka = kb; kb = t;
    t = va; va = vb; vb = t;
  }
}
__global__ void bitonic_shared(unsigned* keys, unsigned* values, unsigned dir) {
  __shared__ unsigned k[1024], v[1024];
  const unsigned base = blockIdx.x * 1024 + threadIdx.x;
  k[threadIdx.x] = keys[base]; v[threadIdx.x] = values[base];
  k[threadIdx.x + 512] = keys[base + 512]; v[threadIdx.x + 512] = values[base + 512];
  for (unsigned size = 2; size < 1024; size <<= 1) {
    const unsigned d = dir ^ ((threadIdx.x & (size / 2)) != 0);
    for (unsigned stride = size / 2; stride > 0; stride >>= 1) {
      __syncthreads();
      const unsigned pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
      comparator(k[pos], v[pos], k[pos + stride], v[pos + stride], d);
    }
  }
  __syncthreads();
  keys[base] = k[threadIdx.x]; values[base] = v[threadIdx.x];
  keys[base + 512] = k[threadIdx.x + 512]; values[base + 512] = v[threadIdx.x + 512];
}
__global__ void bitonic_global(float* x, int j, int k) {
  const unsigned i = threadIdx.x + blockDim.x * blockIdx.x, ixj = i ^ j;
  if (ixj > i && ((i & k) == 0) == (x[i] > x[ixj])) {
    const float t = x[i];
    x[i] = x[ixj];
    x[ixj] = t;
  }
}
