// task: causal_attention
// @launch attend<<<dim3(n, heads), 32>>>(q, keys, vals, out, scale, n, d)
__global__ void attend(const float* q, const float* keys, const float* vals, float* out, float scale, int n, int d) {
  int first = blockIdx.y * n, r = first + blockIdx.x, c = threadIdx.x;
  bool inside = c < d;
  float own = inside ? q[r * d + c] : 0.0f, top = -INFINITY, sum = 0.0f, acc = 0.0f;
  for (int t = first; t <= r; t++) {
    float s = inside ? own * keys[t * d + c] : 0.0f;
    for (int step = 16; step > 0; step /= 2) s += __shfl_xor_sync(~0u, s, step);
    s *= scale;
    float higher = fmaxf(top, s), old = expf(top - higher), w = expf(s - higher);
    sum = sum * old + w;
    acc = acc * old + (inside ? w * vals[t * d + c] : 0.0f);
    top = higher;
  }
  if (inside) out[r * d + c] = acc / sum;
}
