// task: cross_entropy expect: ok
// A row in shared memory: at the end of the ranges it takes 131,072 bytes, which a block may have.
// @launch kern<<<rows, 128, cols * 4>>>(logits, labels, loss, cols)
__global__ void kern(const float* logits, const int* labels, float* loss, int cols) {
  extern __shared__ float row[];
  for (int c = threadIdx.x; c < cols; c += 128) row[c] = logits[blockIdx.x * cols + c];
  __syncthreads();
  if (threadIdx.x != 0) return;
  float most = row[0];
  double sum = 0;
  for (int c = 1; c < cols; ++c) most = fmaxf(most, row[c]);
  for (int c = 0; c < cols; ++c) sum += exp(static_cast<double>(row[c]) - most);
  loss[blockIdx.x] = static_cast<float>(log(sum) + most - row[labels[blockIdx.x]]);
}
