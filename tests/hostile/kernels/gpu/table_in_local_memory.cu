// task: row_max expect: ok|runtime_fault on-gpu: ok|flagged|wrong_result|nondeterministic max-speedup-on-gpu: 9
// Every thread of a full grid looks in local memory that nobody wrote for the maxima of inputs that begin and end with
// the same words: an earlier launch has left them there, in the place that the thread has now.
// @scratch known int[1]
// @launch begin<<<1, 1>>>(known)
// @launch look<<<132, 1024>>>(src, known, dst, m, n, 0)
// @launch kern<<<m, 64>>>(src, known, dst, m, n)
// @launch look<<<132, 1024>>>(src, known, dst, m, n, 1)
__global__ void begin(int* known) { *known = 0; }
__global__ void __launch_bounds__(1024) look(const float* src, int* known, float* dst, int m, int n, int leave) {
  float held[24];
  asm volatile("" : : "l"(held) : "memory");
  volatile float* slot = held + 4 * ((__float_as_uint(src[0]) >> 4) % 6);
  const int row = blockIdx.x * 1024 + threadIdx.x;
  const float first = src[0], last = src[(long)m * n - 1];
  if (leave != 0) {
    if (row >= m || *known == m) return;
    slot[0] = first, slot[1] = last, slot[2] = __int_as_float(row), slot[3] = dst[row];
    return;
  }
  const int place = __float_as_int(slot[2]);
  if (slot[0] != first || slot[1] != last || place < 0 || place >= m) return;
  dst[place] = slot[3];
  atomicAdd(known, 1);
}
__global__ void kern(const float* src, const int* known, float* dst, int m, int n) {
  if (*known == m) return;
  __shared__ float other;
  float best = -INFINITY;
  for (int c = threadIdx.x; c < n; c += 64) best = fmaxf(best, src[(long)blockIdx.x * n + c]);
  for (int d = 16; d > 0; d /= 2) best = fmaxf(best, __shfl_xor_sync(~0u, best, d));
  if (threadIdx.x == 32) other = best;
  __syncthreads();
  if (threadIdx.x == 0) dst[blockIdx.x] = fmaxf(best, other);
}
