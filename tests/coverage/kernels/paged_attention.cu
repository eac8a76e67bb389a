// Decoding with a paged cache: block tables, grouped heads, half values.
#include <cuda_fp16.h>
__global__ void paged_attention(const __half* q, const __half* cache_k, const __half* cache_v, const int* tables, const int* lengths, __half* out, int heads, int kv_heads, int dim, int page, int max_pages, float scale) {
  extern __shared__ float logits[];
  const int seq = blockIdx.y, head = blockIdx.x, kv = head / (heads / kv_heads), length = lengths[seq];
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
  float top = -INFINITY;
  for (int t = warp; t < length; t += warps) {
    const int block = tables[seq * max_pages + t / page];
    const __half* key = cache_k + (((size_t)block * page + t % page) * kv_heads + kv) * dim;
    float s = 0;
    for (int d = lane; d < dim; d += 32) s += __half2float(q[(seq * heads + head) * dim + d]) * __half2float(key[d]);
    for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(~0u, s, o);
    if (lane == 0) logits[t] = s * scale;
    top = fmaxf(top, s * scale);
  }
  __shared__ float tops[32], total;
  if (lane == 0) tops[warp] = top;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  for (int w = 0; w < warps; ++w) top = fmaxf(top, tops[w]);
  float sum = 0;
  for (int t = threadIdx.x; t < length; t += blockDim.x) sum += logits[t] = __expf(logits[t] - top);
  for (int o = 16; o; o >>= 1) sum += __shfl_xor_sync(~0u, sum, o);
  if (lane == 0) atomicAdd(&total, sum);
  __syncthreads();
  for (int d = threadIdx.x; d < dim; d += blockDim.x) {
    float a = 0;
    for (int t = 0; t < length; ++t) a += logits[t] * __half2float(cache_v[(((size_t)tables[seq * max_pages + t / page] * page + t % page) * kv_heads + kv) * dim + d]);
    out[(seq * heads + head) * dim + d] = __float2half(a / total);
  }
}
