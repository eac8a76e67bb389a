// task: cross_entropy
// @launch loss_of<<<rows, 256>>>(logits, labels, loss, cols)
__global__ void loss_of(const float* logits, const int* labels, float* loss, int cols) {
  __shared__ float s[256];
  int t = threadIdx.x;
  const float* row = logits + blockIdx.x * cols;
  float top = -INFINITY;
  for (int j = 0; j < cols; j++) top = fmaxf(top, row[j]);
  s[t] = t < cols ? expf(row[t] - top) : 0.0f;
  __syncthreads();
  for (int d = 128; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) loss[blockIdx.x] = logf(s[0]) + top - row[labels[blockIdx.x]];
}
