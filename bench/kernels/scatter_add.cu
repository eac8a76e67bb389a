// A thread an element, so that a warp's atomics are on neighbouring addresses; eight elements in
// flight a thread. The order of the atomics rounds sums differently from run to run.
// @launch zero<<<ceil_div(bins * dim, 1024), 256>>>(y, bins * dim)
// @launch scatter_add<<<ceil_div(n * dim, 2048), 256>>>(x, index, y, n * dim, dim)
constexpr int kThreads = 256, kEach = 8;

__global__ void zero(float* __restrict__ y, int count) {
#pragma unroll
  for (int k = 0; k < 4; k++) {
    int i = blockIdx.x * 4 * kThreads + k * kThreads + threadIdx.x;
    if (i < count) y[i] = 0.0f;
  }
}

__global__ void __launch_bounds__(kThreads)
    scatter_add(const float* __restrict__ x, const int* __restrict__ index, float* __restrict__ y,
                int count, int dim) {
  int first = blockIdx.x * kEach * kThreads + threadIdx.x;
  float v[kEach];
  int to[kEach];
#pragma unroll
  for (int k = 0; k < kEach; k++) {
    int i = first + k * kThreads, row = i / dim;
    if (i >= count) continue;
    v[k] = x[i];
    to[k] = index[row] * dim + i - row * dim;
  }
#pragma unroll
  for (int k = 0; k < kEach; k++)
    if (first + k * kThreads < count) atomicAdd(&y[to[k]], v[k]);
}
