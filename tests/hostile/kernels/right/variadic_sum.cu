// task: row_sum expect: ok
// Fold expressions and a parameter pack.
// @launch kern<<<ceil_div(rows, 32), 32>>>(x, y, rows, cols)
template <typename... T> __device__ float add(T... v) { return (v + ... + 0.0f); }
template <int... I> struct Steps {};
template <int... I> __device__ float four(const float* p, Steps<I...>) { return add(p[I]...); }
__global__ void kern(const float* x, float* y, int rows, int cols) {
  const int r = blockIdx.x * 32 + threadIdx.x;
  if (r >= rows) return;
  const float* p = x + r * cols;
  float sum = 0;
  int c = 0;
  for (; c + 4 <= cols; c += 4) sum += four(p + c, Steps<0, 1, 2, 3>{});
  for (; c < cols; ++c) sum += p[c];
  y[r] = sum;
}
