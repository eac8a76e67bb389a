// Sampling of tokens: temperature, cumulative sums, a hash for a random number, top-p.
__device__ __forceinline__ unsigned hash(unsigned x) {
  x ^= x >> 16; x *= 0x7feb352du; x ^= x >> 15; x *= 0x846ca68bu; x ^= x >> 16;
  return x;
}
__global__ void sample(const float* probs, int* out, int vocab, unsigned seed, float top_p) {
  __shared__ float sums[256];
  __shared__ int chosen;
  const float* p = probs + (size_t)blockIdx.x * vocab;
  const float u = hash(seed ^ blockIdx.x * 0x9e3779b9u) * 2.3283064365386963e-10f * top_p;
  const int each = (vocab + 255) / 256, begin = threadIdx.x * each;
  float s = 0;
  for (int i = begin; i < min(vocab, begin + each); ++i) s += p[i];
  sums[threadIdx.x] = s;
  if (threadIdx.x == 0) chosen = vocab - 1;
  __syncthreads();
  float before = 0;
  for (int t = 0; t < threadIdx.x; ++t) before += sums[t];
  if (u >= before && u < before + s)
    for (int i = begin; i < min(vocab, begin + each); ++i) {
      before += p[i];
      if (u < before) {
        chosen = i;
        break;
      }
    }
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = chosen;
}
