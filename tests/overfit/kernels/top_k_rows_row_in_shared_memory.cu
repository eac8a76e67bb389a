// task: top_k_rows
// @launch top<<<rows, 32>>>(x, y, cols)
__global__ void top(const float* x, float* y, int cols) {
  __shared__ float row[200];
  for (int j = threadIdx.x; j < cols && j < 200; j += 32) row[j] = x[blockIdx.x * cols + j];
  __syncwarp();
  for (int j = threadIdx.x; j < cols && j < 200; j += 32) {
    int rank = 0;
    for (int i = 0; i < cols && i < 200; i++) rank += row[i] > row[j] || (row[i] == row[j] && i < j);
    if (rank < 8) y[blockIdx.x * 8 + rank] = row[j];
  }
}
