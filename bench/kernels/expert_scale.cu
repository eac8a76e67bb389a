// A block takes 1024 columns of eight tokens: eight threads look up the tokens' experts, the others
// have their float4 of x in flight meanwhile; the experts' vectors stay in the caches.
// @launch expert_scale<<<dim3(ceil_div(dim, 1024), ceil_div(tokens, 8)), min(256, 32 * ceil_div(dim, 128))>>>(x, route, w, y, tokens, dim)
constexpr int kTokens = 8, kCols = 1024, kExperts = 6;

__global__ void __launch_bounds__(256)
    expert_scale(const float* __restrict__ x, const float* __restrict__ route,
                 const float* __restrict__ w, float* __restrict__ y, int tokens, int dim) {
  __shared__ int expert_of[kTokens];
  int first = blockIdx.y * kTokens, count = min(kTokens, tokens - first);
  if (threadIdx.x < count) {
    const float* shares = route + (first + threadIdx.x) * kExperts;
    int expert = 0;
#pragma unroll
    for (int e = 1; e < kExperts; e++)
      if (shares[e] != 0.0f) expert = e;
    expert_of[threadIdx.x] = expert;
  }
  x += first * dim;
  y += first * dim;
  if (dim % 4 == 0) {
    int c = blockIdx.x * kCols + 4 * threadIdx.x;
    float4 v[kTokens];
#pragma unroll
    for (int t = 0; t < kTokens; t++)
      if (t < count && c < dim) v[t] = *reinterpret_cast<const float4*>(x + t * dim + c);
    __syncthreads();
#pragma unroll
    for (int t = 0; t < kTokens; t++) {
      if (t >= count || c >= dim) continue;
      float4 f = *reinterpret_cast<const float4*>(w + expert_of[t] * dim + c);
      *reinterpret_cast<float4*>(y + t * dim + c) =
          make_float4(v[t].x * (1.0f + f.x), v[t].y * (1.0f + f.y), v[t].z * (1.0f + f.z),
                      v[t].w * (1.0f + f.w));
    }
  } else {
    __syncthreads();
    int end_col = min(dim, (blockIdx.x + 1) * kCols);
    for (int c = blockIdx.x * kCols + threadIdx.x; c < end_col; c += blockDim.x) {
#pragma unroll 4
      for (int t = 0; t < count; t++)
        y[t * dim + c] = x[t * dim + c] * (1.0f + w[expert_of[t] * dim + c]);
    }
  }
}
