// task: row_sum expect: ok|rejected|compile_error
// cp.async into shared memory in two stages, commit_group and wait_group by hand.
// @launch kern<<<rows, 32>>>(x, y, cols)
__device__ void copy(float* to, const float* from, bool inside) {
  const unsigned shared = (unsigned)__cvta_generic_to_shared(to);
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" :: "r"(shared), "l"(from), "r"(inside ? 4 : 0) : "memory");
}
__global__ void kern(const float* x, float* y, int cols) {
  __shared__ float stage[2][32];
  const float* row = x + blockIdx.x * cols;
  float sum = 0;
  copy(&stage[0][threadIdx.x], row + min((int)threadIdx.x, cols - 1), threadIdx.x < cols);
  asm volatile("cp.async.commit_group;" ::: "memory");
  for (int base = 0, now = 0; base < cols; base += 32, now ^= 1) {
    const int next = base + 32 + threadIdx.x;
    copy(&stage[now ^ 1][threadIdx.x], row + min(next, cols - 1), next < cols);
    asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    sum += stage[now][threadIdx.x];
  }
  asm volatile("cp.async.wait_all;" ::: "memory");
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
