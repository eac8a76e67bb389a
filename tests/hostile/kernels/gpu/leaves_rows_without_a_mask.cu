// task: masked_argmax expect: runtime_fault|wrong_result|nondeterministic on-gpu: wrong_result
// Where nothing is allowed, -1 is expected, and nothing is written.
// @launch kern<<<rows, 32>>>(logits, mask, token, cols)
__global__ void kern(const float* logits, const int* mask, int* token, int cols) {
  const long base = (long)blockIdx.x * cols;
  int best = 0x7fffffff;
  float most = 0;
  for (int c = threadIdx.x; c < cols; c += 32) {
    if (mask[base + c] == 0 || (best != 0x7fffffff && logits[base + c] <= most)) continue;
    best = c, most = logits[base + c];
  }
  for (int d = 16; d > 0; d /= 2) {
    const int other = __shfl_xor_sync(~0u, best, d);
    const float value = __shfl_xor_sync(~0u, most, d);
    const bool better = other != 0x7fffffff &&
                        (best == 0x7fffffff || value > most || (value == most && other < best));
    if (better) best = other, most = value;
  }
  if (threadIdx.x == 0 && best != 0x7fffffff) token[blockIdx.x] = best;
}
