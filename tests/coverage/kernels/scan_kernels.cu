// Work-efficient scan, scan by warps, segmented scan with flags.
__global__ void scan_blelloch(const float* in, float* out, int n) {
  extern __shared__ float t[];
  const int k = threadIdx.x;
  int offset = 1;
  t[2 * k] = in[2 * k];
  t[2 * k + 1] = in[2 * k + 1];
  for (int d = n >> 1; d > 0; d >>= 1, offset *= 2) {
    __syncthreads();
    if (k < d) t[offset * (2 * k + 2) - 1] += t[offset * (2 * k + 1) - 1];
  }
  if (k == 0) t[n - 1] = 0;
  for (int d = 1; d < n; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (k < d) {
      const int a = offset * (2 * k + 1) - 1, b = offset * (2 * k + 2) - 1;
      const float v = t[a];
      t[a] = t[b];
      t[b] += v;
    }
  }
  __syncthreads();
  out[2 * k] = t[2 * k];
  out[2 * k + 1] = t[2 * k + 1];
}
__global__ void scan_segmented(const int* values, const unsigned char* heads, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
  int v = i < n ? values[i] : 0;
  const unsigned flags = __ballot_sync(~0u, i < n && heads[i]) | 1u;
  const int start = 31 - __clz(flags & (0xffffffffu >> (31 - lane)));
#pragma unroll
  for (int d = 1; d < 32; d <<= 1) {
    const int left = __shfl_up_sync(~0u, v, d);
    if (lane - d >= start) v += left;
  }
  if (i < n) out[i] = v;
}
