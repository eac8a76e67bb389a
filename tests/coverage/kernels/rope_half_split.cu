// Rotary embeddings of halves of the head, in half precision, cos and sin from a table.
#include <cuda_fp16.h>
__global__ void rope_half_split(__half* q, __half* k, const float* __restrict__ table, int heads, int kv_heads, int dim) {
  const int half = dim / 2;
  const float *co = table + (size_t)blockIdx.x * dim, *si = co + half;
  for (int i = threadIdx.x; i < (heads + kv_heads) * half; i += blockDim.x) {
    const int h = i / half, j = i - h * half;
    __half* p = h < heads ? q + ((size_t)blockIdx.x * heads + h) * dim : k + ((size_t)blockIdx.x * kv_heads + h - heads) * dim;
    const float a = __half2float(p[j]), b = __half2float(p[j + half]);
    p[j] = __float2half(a * co[j] - b * si[j]);
    p[j + half] = __float2half(fmaf(a, si[j], b * co[j]));
  }
}
