// The gradient of the embedding: sums [vocabulary, hidden] += scale · by_x[row] for each row of the
// batch, to the row of its token. `sorted` are the batch's tokens in order and `rows` their
// positions, so that one block adds all rows of a token, in a fixed order and without atomics. One
// block for each of the batch's `count` rows; blocks of rows that are not the first of their token
// return at once.

extern "C" __global__ void __launch_bounds__(kEmbeddingThreads)
    embedding_backward(const Element* by_x, const long long* sorted, const long long* rows,
                       int count, float scale, float* sums) {
  const int first = blockIdx.x;
  const long long token = sorted[first];
  if (first > 0 && sorted[first - 1] == token) return;
  for (int at = threadIdx.x * kVector; at < kHidden; at += kEmbeddingThreads * kVector) {
    float total[kVector] = {};
    for (int i = first; i < count && sorted[i] == token; ++i) {
      float x[kVector];
      load(by_x + rows[i] * kHidden + at, x);
#pragma unroll
      for (int k = 0; k < kVector; ++k) total[k] += x[k];
    }
    float* to = sums + token * kHidden + at;
#pragma unroll
    for (int k = 0; k < kVector; ++k) to[k] += scale * total[k];
  }
}
