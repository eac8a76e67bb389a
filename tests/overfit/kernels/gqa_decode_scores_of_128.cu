// task: gqa_decode
// @launch decode<<<heads, 32>>>(q, keys, vals, out, scale, group, n, d)
__global__ void decode(const float* q, const float* keys, const float* vals, float* out, float scale, int group, int n, int d) {
  __shared__ float w[128];
  int h = blockIdx.x, first = h / group * n;
  float top = -INFINITY, sum = 0.0f;
  for (int t = threadIdx.x; t < n && t < 128; t += 32) {
    float s = 0.0f;
    for (int e = 0; e < d; e++) s += q[h * d + e] * keys[(first + t) * d + e];
    w[t] = scale * s;
  }
  __syncwarp();
  for (int t = 0; t < n && t < 128; t++) top = fmaxf(top, w[t]);
  for (int t = 0; t < n && t < 128; t++) sum += expf(w[t] - top);
  for (int c = threadIdx.x; c < d; c += 32) {
    float acc = 0.0f;
    for (int t = 0; t < n && t < 128; t++) acc += expf(w[t] - top) * vals[(first + t) * d + c];
    out[h * d + c] = acc / sum;
  }
}
