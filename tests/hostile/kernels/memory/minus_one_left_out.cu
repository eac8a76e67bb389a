// task: masked_argmax expect: wrong_result on-gpu: wrong_result|ok
// Writes no -1: where it is expected, nothing is written.
// @launch kern<<<rows, 32>>>(logits, mask, token, rows, cols)
__global__ void kern(const float* logits, const int* mask, int* token, int rows, int cols) {
  if (threadIdx.x != 0) return;
  int best = -1;
  for (int c = 0; c < cols; c++) {
    const int at = blockIdx.x * cols + c;
    if (mask[at] != 0 && (best < 0 || logits[at] > logits[blockIdx.x * cols + best])) best = c;
  }
  if (best >= 0) token[blockIdx.x] = best;
}
