// A block has 64 rows. It multiplies their entries in the order of memory, whatever the width, and
// leaves the products in shared memory; four threads then add up each row.
// @launch ell_spmv<<<ceil_div(rows, 64), 256>>>(vals, at, x, y, rows, width)
constexpr int kRows = 64, kMostWidth = 64, kThreads = 256;

// A gap after every 32 elements, so that threads of neighbouring rows meet different banks.
__device__ int padded(int i) { return i + i / 32; }

__global__ void __launch_bounds__(kThreads)
    ell_spmv(const float* __restrict__ vals, const int* __restrict__ at,
             const float* __restrict__ x, float* __restrict__ y, int rows, int width) {
  __shared__ float products[kRows * kMostWidth + kRows * kMostWidth / 32];
  int first = blockIdx.x * kRows, count = min(kRows, rows - first) * width;
  vals += first * width;
  at += first * width;
#pragma unroll 4
  for (int i = threadIdx.x; i < count; i += kThreads) products[padded(i)] = vals[i] * x[at[i]];
  __syncthreads();
  int r = threadIdx.x / 4;
  float sum = 0.0f;
  if (first + r < rows)
    for (int j = threadIdx.x % 4; j < width; j += 4) sum += products[padded(r * width + j)];
  sum += __shfl_xor_sync(~0u, sum, 2);
  sum += __shfl_xor_sync(~0u, sum, 1);
  if (threadIdx.x % 4 == 0 && first + r < rows) y[first + r] = sum;
}
