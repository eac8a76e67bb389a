// task: categorical_sample
// @launch kern<<<ceil_div(rows, 64), 64>>>(weights, pick, token, rows, cols)
__global__ void kern(const int* weights, const int* pick, int* token, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  long long total = 0, sum = 0;
  for (int j = 0; j < cols; j++) total += weights[r * cols + j];
  long long target = pick[r] * total >> 30;
  token[r] = 0;
  for (int c = 0; c < cols; c++) {
    sum += weights[r * cols + c];
    if (sum > target) {
      token[r] = c;
      return;
    }
  }
}
