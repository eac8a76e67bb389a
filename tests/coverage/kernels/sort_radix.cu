// One digit of a radix sort: counts, ranks by ballots, scatter.
__global__ void radix_count(const unsigned* keys, unsigned* counts, int n, int shift) {
  __shared__ unsigned s[16];
  if (threadIdx.x < 16) s[threadIdx.x] = 0;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&s[keys[i] >> shift & 15], 1u);
  __syncthreads();
  if (threadIdx.x < 16) counts[threadIdx.x * gridDim.x + blockIdx.x] = s[threadIdx.x];
}
__global__ void radix_scatter(const unsigned* keys, unsigned* out, const unsigned* offsets, int n, int shift) {
  const int i = blockIdx.x * 32 + threadIdx.x;
  const unsigned key = i < n ? keys[i] : 0xffffffffu, digit = key >> shift & 15;
  unsigned same = __ballot_sync(~0u, i < n);
#pragma unroll
  for (int b = 0; b < 4; ++b) {
    const unsigned votes = __ballot_sync(~0u, digit >> b & 1);
    same &= digit >> b & 1 ? votes : ~votes;
  }
  const unsigned rank = __popc(same & ((1u << threadIdx.x) - 1));
  if (i < n) out[offsets[digit * gridDim.x + blockIdx.x] + rank] = key;
}
