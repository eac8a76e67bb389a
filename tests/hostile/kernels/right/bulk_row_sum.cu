// task: row_sum expect: ok|compile_error
// The aligned part of a row comes by bulk copies through two stages, the rest by loads.
// @launch kern<<<rows, 128>>>(x, y, cols)
#include <cuda/barrier>
#include <cuda/ptx>
namespace ptx = cuda::ptx;
__global__ void kern(const float* x, float* y, int cols) {
  constexpr int kStage = 512;
  __shared__ alignas(128) float stages[2][kStage];
  __shared__ float warps[4];
  __shared__ unsigned long long full[2];
  const int t = threadIdx.x;
  const float* row = x + (long)blockIdx.x * cols;
  const int head = min(cols, (int)((16 - (unsigned long long)row % 16) % 16 / 4)), body = (cols - head) / 4 * 4;
  if (t < 2) ptx::mbarrier_init(full + t, 1);
  if (t == 0) ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  __syncthreads();
  const auto begin = [&](int k) {
    const int bytes = 4 * min(kStage, body - k * kStage);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, full + k % 2, bytes);
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, stages[k % 2], row + head + k * kStage, bytes, full + k % 2);
  };
  const int steps = (body + kStage - 1) / kStage;
  if (t == 0) for (int k = 0; k < min(2, steps); ++k) begin(k);
  float sum = t < head ? row[t] : 0.0f;
  if (head + body + t < cols) sum += row[head + body + t];
  for (int k = 0; k < steps; ++k) {
    while (!ptx::mbarrier_try_wait_parity(full + k % 2, k / 2 & 1)) {}
    for (int i = t; i < min(kStage, body - k * kStage); i += 128) sum += stages[k % 2][i];
    __syncthreads();
    if (t == 0 && k + 2 < steps) begin(k + 2);
  }
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (t % 32 == 0) warps[t / 32] = sum;
  __syncthreads();
  if (t == 0) y[blockIdx.x] = warps[0] + warps[1] + warps[2] + warps[3];
}
