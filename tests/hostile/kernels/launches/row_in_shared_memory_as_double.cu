// task: cross_entropy expect: launch_error on-gpu: launch_error|ok
// A row in shared memory, in double: at the real size it takes 256,000 bytes.
// @launch kern<<<rows, 128, cols * 8>>>(logits, labels, loss, cols)
__global__ void kern(const float* logits, const int* labels, float* loss, int cols) {
  extern __shared__ double row[];
  for (int c = threadIdx.x; c < cols; c += 128) row[c] = logits[blockIdx.x * cols + c];
  __syncthreads();
  if (threadIdx.x != 0) return;
  double most = row[0], sum = 0;
  for (int c = 1; c < cols; ++c) most = fmax(most, row[c]);
  for (int c = 0; c < cols; ++c) sum += exp(row[c] - most);
  loss[blockIdx.x] = log(sum) + most - row[labels[blockIdx.x]];
}
