// The reductions of the well-known sample: interleaved, sequential, unrolled, by template.
__global__ void reduce0(const int* in, int* out, unsigned n) {
  extern __shared__ int s[];
  const unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned d = 1; d < blockDim.x; d *= 2) {
    if (t % (2 * d) == 0) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
template <class T, unsigned BLOCK, bool POW2> __global__ void reduce6(const T* in, T* out, unsigned n) {
  extern __shared__ double raw[];
  T* s = reinterpret_cast<T*>(raw);
  const unsigned t = threadIdx.x;
  unsigned i = blockIdx.x * BLOCK * 2 + t;
  T sum = 0;
  for (; i < n; i += BLOCK * 2 * gridDim.x) {
    sum += in[i];
    if (POW2 || i + BLOCK < n) sum += in[i + BLOCK];
  }
  s[t] = sum;
  __syncthreads();
  if (BLOCK >= 512) { if (t < 256) s[t] = sum = sum + s[t + 256]; __syncthreads(); }
  if (BLOCK >= 256) { if (t < 128) s[t] = sum = sum + s[t + 128]; __syncthreads(); }
  if (BLOCK >= 128) { if (t < 64) s[t] = sum = sum + s[t + 64]; __syncthreads(); }
  if (t < 32) {
    sum += s[t + 32];
    for (int o = 16; o > 0; o /= 2) sum += __shfl_down_sync(0xffffffff, sum, o);
  }
  if (t == 0) out[blockIdx.x] = sum;
}
template __global__ void reduce6<float, 256, true>(const float*, float*, unsigned);
template __global__ void reduce6<double, 512, false>(const double*, double*, unsigned);
template __global__ void reduce6<int, 128, true>(const int*, int*, unsigned);
