// emulate: --launch 'attention<<<4, 64>>>(q, k, v, o, 64, 32, scale)' --value scale=0.125 --buffer q=f32[4,32]:ones --buffer k=f32[64,32]:ones
// emulate: --buffer v=f32[64,32]:2 --buffer o=f32[4,32]
// holds: o = 2 2 2 2
// One block per query: scores, softmax, and the weighted sum of values that are all alike.
__global__ void attention(const float* q, const float* k, const float* v, float* o, int keys, int dim, float scale) {
  __shared__ float p[64], total;
  int t = threadIdx.x;
  float score = 0;
  for (int d = 0; d < dim; ++d) score += q[blockIdx.x * dim + d] * k[t * dim + d];
  p[t] = expf(score * scale - 4.0f);
  __syncthreads();
  if (t == 0) {
    total = 0;
    for (int j = 0; j < keys; ++j) total += p[j];
  }
  __syncthreads();
  if (t < dim) {
    float sum = 0;
    for (int j = 0; j < keys; ++j) sum += p[j] * v[j * dim + t];
    o[blockIdx.x * dim + t] = sum / total;
  }
}
