// task: row_argmax expect: ok
// The value's order-preserving bits and the index in one 64-bit word: one atomicMax picks both.
// @scratch keys long long[rows]
// @launch clear<<<ceil_div(rows, 64), 64>>>(keys, rows)
// @launch kern<<<dim3(2, rows), 64>>>(x, keys, cols)
// @launch unpack<<<ceil_div(rows, 64), 64>>>(keys, y, rows)
__global__ void clear(long long* keys, int rows) {
  int r = blockIdx.x * 64 + threadIdx.x;
  if (r < rows) keys[r] = 0;
}
__device__ unsigned ordered(float v) {
  const unsigned bits = __float_as_uint(v + 0.0f);  // -0 is as large as 0
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}
__global__ void kern(const float* x, long long* keys, int cols) {
  unsigned long long best = 0;
  for (int c = blockIdx.x * 64 + threadIdx.x; c < cols; c += 128) {
    const unsigned long long key =
        (unsigned long long)ordered(x[blockIdx.y * cols + c]) << 32 | (0xffffffffu - (unsigned)c);
    best = key > best ? key : best;
  }
  atomicMax((unsigned long long*)&keys[blockIdx.y], best);
}
__global__ void unpack(const long long* keys, int* y, int rows) {
  int r = blockIdx.x * 64 + threadIdx.x;
  if (r < rows) y[r] = (int)(0xffffffffu - (unsigned)keys[r]);
}
