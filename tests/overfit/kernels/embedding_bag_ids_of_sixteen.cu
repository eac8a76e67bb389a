// task: embedding_bag
// @launch bag<<<bags, 64>>>(table, ids, y, len, dim)
__global__ void bag(const float* table, const int* ids, float* y, int len, int dim) {
  __shared__ int own[16];
  if (threadIdx.x < 16 && threadIdx.x < len) own[threadIdx.x] = ids[blockIdx.x * len + threadIdx.x];
  __syncthreads();
  for (int c = threadIdx.x; c < dim; c += 64) {
    float sum = 0.0f;
    for (int j = 0; j < len && j < 16; j++) sum += table[own[j] * dim + c];
    y[blockIdx.x * dim + c] = sum / len;
  }
}
