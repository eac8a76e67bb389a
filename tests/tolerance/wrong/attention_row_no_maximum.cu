// task: attention_row
// @scratch scores float[n]
// @launch dots<<<ceil_div(n, 64), 64>>>(q, keys, scores, scale, n, d)
// @launch mix<<<1, d>>>(scores, vals, out, n, d)
__global__ void dots(const float* q, const float* keys, float* scores, float scale, int n, int d) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n) return;
  float s = 0.0f;
  for (int e = 0; e < d; e++) s += q[e] * keys[t * d + e];
  scores[t] = s * scale;
}
__global__ void mix(const float* scores, const float* vals, float* out, int n, int d) {
  int c = threadIdx.x;
  float top = -INFINITY, sum = 0.0f, acc = 0.0f;
  for (int t = 0; t < n; t++) top = fmaxf(top, scores[t]);
  for (int t = 0; t < n; t++) {
    float weight = expf(scores[t]);
    sum += weight;
    acc += weight * vals[t * d + c];
  }
  out[c] = acc / sum;
}
