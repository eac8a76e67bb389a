// task: masked_argmax
// @launch best<<<rows, 32>>>(logits, mask, token, cols)
__global__ void best(const float* logits, const int* mask, int* token, int cols) {
  float top = -INFINITY;
  int at = -1;
  for (int k = 0; k < 4; k++) {
    int j = 32 * k + threadIdx.x;
    if (j < cols && mask[blockIdx.x * cols + j] != 0 && (at < 0 || logits[blockIdx.x * cols + j] > top)) {
      top = logits[blockIdx.x * cols + j];
      at = j;
    }
  }
  for (int step = 16; step > 0; step /= 2) {
    float other = __shfl_down_sync(~0u, top, step);
    int place = __shfl_down_sync(~0u, at, step);
    if (place >= 0 && (at < 0 || other > top || (other == top && place < at))) {
      top = other;
      at = place;
    }
  }
  if (threadIdx.x == 0) token[blockIdx.x] = at;
}
