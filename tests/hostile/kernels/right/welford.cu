// task: layernorm_rows expect: ok
// Mean and variance by Welford's update, partial results merged over the lanes of a warp.
// @launch kern<<<rows, 32>>>(x, gamma, beta, y, cols)
struct Moments { float mean, m2, count; };
__device__ Moments merge(Moments a, Moments b) {
  const float n = a.count + b.count;
  if (n == 0) return a;
  const float delta = b.mean - a.mean;
  return {a.mean + delta * b.count / n, a.m2 + b.m2 + delta * delta * a.count * b.count / n, n};
}
__global__ void kern(const float* x, const float* gamma, const float* beta, float* y, int cols) {
  const float* row = x + (size_t)blockIdx.x * cols;
  Moments m{0, 0, 0};
  for (int c = threadIdx.x; c < cols; c += 32) {
    m.count += 1;
    const float delta = row[c] - m.mean;
    m.mean += delta / m.count;
    m.m2 += delta * (row[c] - m.mean);
  }
  for (int d = 1; d < 32; d *= 2)
    m = merge(m, Moments{__shfl_xor_sync(~0u, m.mean, d), __shfl_xor_sync(~0u, m.m2, d), __shfl_xor_sync(~0u, m.count, d)});
  const float f = rsqrtf(m.m2 / cols + 1e-5f);
  for (int c = threadIdx.x; c < cols; c += 32)
    y[(size_t)blockIdx.x * cols + c] = (row[c] - m.mean) * f * gamma[c] + beta[c];
}
