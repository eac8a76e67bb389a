// task: masked_argmax
// @launch kern<<<ceil_div(rows, 64), 64>>>(logits, mask, token, rows, cols)
__global__ void kern(const float* logits, const int* mask, int* token, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  int best = -1;
  for (int j = 0; j < cols; j++) {
    if (mask[r * cols + j] != 1) continue;
    if (best < 0 || logits[r * cols + j] > logits[r * cols + best]) best = j;
  }
  token[r] = best;
}
