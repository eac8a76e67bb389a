// task: transpose expect: ok
// Division and remainder by run-time values, signed, unsigned and of 64 bits.
// @launch kern<<<ceil_div(rows * cols, 128), 128>>>(x, y, rows, cols)
__global__ void kern(const float* x, float* y, unsigned rows, long long cols) {
  const unsigned i = blockIdx.x * 128 + threadIdx.x;
  if (i >= rows * cols) return;
  const long long r = (long long)i / cols, c = (long long)i % cols;
  const int minus = (-7) / 2 + 3 + (-7) % 2 + 1;  // 0, as C++ truncates
  const unsigned long long to = (unsigned long long)c * rows + (unsigned)r;
  y[to / 1 + minus] = x[(to % rows) * cols + to / rows];
}
