// task: attention_row
// @launch attend<<<1, 32>>>(q, keys, vals, out, scale, n, d)
__global__ void attend(const float* q, const float* keys, const float* vals, float* out, float scale, int n, int d) {
  __shared__ float s[160];
  __shared__ float top, sum;
  for (int t = threadIdx.x; t < n; t += 32) {
    float acc = 0.0f;
    for (int e = 0; e < d; e++) acc += q[e] * keys[t * d + e];
    s[t] = acc * scale;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    top = s[0];
    for (int t = 1; t < n; t++) top = fmaxf(top, s[t]);
    sum = 0.0f;
    for (int t = 0; t < n; t++) sum += expf(s[t] - top);
  }
  __syncthreads();
  for (int c = threadIdx.x; c < d; c += 32) {
    float acc = 0.0f;
    for (int t = 0; t < n; t++) acc += expf(s[t] - top) * vals[t * d + c];
    out[c] = acc / sum;
  }
}
