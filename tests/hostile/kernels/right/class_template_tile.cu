// task: matmul expect: ok
// A class template that owns a tile in shared memory, with members, operators and a static constant.
// @launch kern<8><<<dim3(ceil_div(n, 8), ceil_div(m, 8)), dim3(8, 8)>>>(a, b, c, m, n, k)
template <typename T, int N>
class Tile {
 public:
  static constexpr int kPitch = N + 1;
  __device__ T& operator()(int r, int c) { return at_[r * kPitch + c]; }
  __device__ const T& operator()(int r, int c) const { return at_[r * kPitch + c]; }
 private:
  T at_[N * kPitch];
};
template <int N>
__global__ void kern(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ Tile<float, N> left, right;
  const int r = blockIdx.y * N + threadIdx.y, j = blockIdx.x * N + threadIdx.x;
  float sum = 0;
  for (int base = 0; base < k; base += N) {
    left(threadIdx.y, threadIdx.x) = r < m && base + (int)threadIdx.x < k ? a[r * k + base + threadIdx.x] : 0;
    right(threadIdx.y, threadIdx.x) = j < n && base + (int)threadIdx.y < k ? b[(base + threadIdx.y) * n + j] : 0;
    __syncthreads();
#pragma unroll
    for (int e = 0; e < N; ++e) sum += left(threadIdx.y, e) * right(e, threadIdx.x);
    __syncthreads();
  }
  if (r < m && j < n) c[r * n + j] = sum;
}
