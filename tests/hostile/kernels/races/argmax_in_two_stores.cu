// task: row_argmax expect: nondeterministic|wrong_result on-gpu: nondeterministic|wrong_result|ok
// The maximum and its column are updated one after the other; between the two another block comes.
// @scratch best int[rows]
// @launch clear<<<ceil_div(rows, 128), 128>>>(best, y, rows)
// @launch kern<<<dim3(rows, 4), 1>>>(x, best, y, rows, cols)
__global__ void clear(int* best, int* y, int rows) {
  const int r = blockIdx.x * 128 + threadIdx.x;
  if (r < rows) best[r] = 0x80000000, y[r] = 0;
}
__global__ void kern(const float* x, int* best, int* y, int rows, int cols) {
  const int r = blockIdx.x, begin = blockIdx.y * ((cols + 3) / 4), end = min(cols, begin + (cols + 3) / 4);
  int at = begin;
  for (int c = begin; c < end; ++c)
    if (x[r * cols + c] > x[r * cols + at]) at = c;
  const int bits = __float_as_int(x[r * cols + at]), key = bits < 0 ? bits ^ 0x7fffffff : bits;
  if (begin < end && atomicMax(&best[r], key) < key) atomicExch(&y[r], at);
}
