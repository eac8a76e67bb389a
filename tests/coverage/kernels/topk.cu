// The k largest of rows by a heap in local memory, and by radix selection.
template <int K> __global__ void topk_heap(const float* x, float* values, int* index, int cols) {
  float v[K];
  int at[K];
#pragma unroll
  for (int k = 0; k < K; ++k) v[k] = -INFINITY, at[k] = -1;
  for (int c = 0; c < cols; ++c) {
    const float e = x[(size_t)(blockIdx.x * blockDim.x + threadIdx.x) * cols + c];
    if (e <= v[K - 1]) continue;
    int k = K - 1;
    for (; k > 0 && v[k - 1] < e; --k) v[k] = v[k - 1], at[k] = at[k - 1];
    v[k] = e;
    at[k] = c;
  }
#pragma unroll
  for (int k = 0; k < K; ++k) values[(blockIdx.x * blockDim.x + threadIdx.x) * K + k] = v[k], index[(blockIdx.x * blockDim.x + threadIdx.x) * K + k] = at[k];
}
template __global__ void topk_heap<4>(const float*, float*, int*, int);
__global__ void radix_select(const float* x, float* kth, int cols, int k) {
  __shared__ int bins[256];
  __shared__ unsigned prefix, mask;
  __shared__ int left;
  if (threadIdx.x == 0) prefix = mask = 0, left = k;
  for (int shift = 24; shift >= 0; shift -= 8) {
    for (int b = threadIdx.x; b < 256; b += blockDim.x) bins[b] = 0;
    __syncthreads();
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
      unsigned u = __float_as_uint(x[(size_t)blockIdx.x * cols + c]);
      u ^= (unsigned)((int)u >> 31) | 0x80000000u;
      if ((u & mask) == prefix) atomicAdd(&bins[u >> shift & 255], 1);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      int b = 255;
      while (b > 0 && left > bins[b]) left -= bins[b--];
      prefix |= (unsigned)b << shift;
      mask |= 255u << shift;
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) kth[blockIdx.x] = __uint_as_float(prefix & 0x80000000u ? prefix & 0x7fffffffu : ~prefix);
}
