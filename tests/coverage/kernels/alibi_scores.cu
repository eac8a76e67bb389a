// Attention scores with ALiBi slopes and a sliding window.
__global__ void alibi_scores(const float* q, const float* k, float* scores, int n, int d, int heads, int window) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y, h = blockIdx.z;
  if (r >= n || c >= n) return;
  const float slope = exp2f(-8.f * (h + 1) / heads);
  float s = -INFINITY;
  if (c <= r && r - c < window) {
    s = 0;
    const float4 *a = reinterpret_cast<const float4*>(q + ((size_t)h * n + r) * d), *b = reinterpret_cast<const float4*>(k + ((size_t)h * n + c) * d);
    for (int e = 0; e < d / 4; ++e) s += a[e].x * b[e].x + a[e].y * b[e].y + a[e].z * b[e].z + a[e].w * b[e].w;
    s = s * rsqrtf((float)d) - slope * (r - c);
  }
  scores[((size_t)h * n + r) * n + c] = s;
}
