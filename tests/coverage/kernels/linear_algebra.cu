// LU steps, Cholesky of small matrices in registers, Jacobi and conjugate gradients' parts, Givens.
template <int N> __global__ void cholesky_batched(float* a, int batch) {
  const int b = blockIdx.x * blockDim.x + threadIdx.x;
  if (b >= batch) return;
  float m[N][N];
#pragma unroll
  for (int i = 0; i < N; ++i)
#pragma unroll
    for (int j = 0; j < N; ++j) m[i][j] = a[(b * N + i) * N + j];
#pragma unroll
  for (int j = 0; j < N; ++j) {
#pragma unroll
    for (int k = 0; k < j; ++k) m[j][j] -= m[j][k] * m[j][k];
    m[j][j] = sqrtf(m[j][j]);
#pragma unroll
    for (int i = j + 1; i < N; ++i) {
#pragma unroll
      for (int k = 0; k < j; ++k) m[i][j] -= m[i][k] * m[j][k];
      m[i][j] /= m[j][j];
    }
  }
#pragma unroll
  for (int i = 0; i < N; ++i)
#pragma unroll
    for (int j = 0; j < N; ++j) a[(b * N + i) * N + j] = j <= i ? m[i][j] : 0;
}
template __global__ void cholesky_batched<4>(float*, int);
template __global__ void cholesky_batched<6>(float*, int);
__global__ void lu_step(double* a, int n, int k) {
  const int i = blockIdx.y * blockDim.y + threadIdx.y + k + 1, j = blockIdx.x * blockDim.x + threadIdx.x + k + 1;
  if (i < n && j < n) a[i * n + j] -= a[i * n + k] / a[k * n + k] * a[k * n + j];
}
__global__ void jacobi(const float* a, const float* b, const float* x, float* next, int n, float* error) {
  const int row = blockIdx.x;
  float s = 0;
  for (int c = threadIdx.x; c < n; c += 32) s += c == row ? 0 : a[(size_t)row * n + c] * x[c];
  for (int o = 16; o; o >>= 1) s += __shfl_down_sync(~0u, s, o);
  if (threadIdx.x == 0) {
    next[row] = (b[row] - s) / a[(size_t)row * n + row];
    atomicMax((int*)error, __float_as_int(fabsf(next[row] - x[row])));
  }
}
__global__ void tridiagonal(const float* a, const float* b, const float* c, const float* d, float* x, float* scratch, int n, int systems) {
  const int s = blockIdx.x * blockDim.x + threadIdx.x;
  if (s >= systems) return;
  float cp = c[s] / b[s], dp = d[s] / b[s];
  scratch[s] = cp;
  x[s] = dp;
  for (int i = 1; i < n; ++i) {
    const int at = i * systems + s;
    const float m = 1 / (b[at] - a[at] * cp);
    scratch[at] = cp = c[at] * m;
    x[at] = dp = (d[at] - a[at] * dp) * m;
  }
  for (int i = n - 2; i >= 0; --i) x[i * systems + s] -= scratch[i * systems + s] * x[(i + 1) * systems + s];
}
