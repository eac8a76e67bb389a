// A warp a row, with online softmax: the maximum and the sum of the visible part in one pass, four
// elements in flight a lane, then the results in a second one, mostly from the caches.
// @launch alibi_softmax<<<ceil_div(heads * n, 4), 128>>>(s, slope, y, heads * n, n)
constexpr int kBatch = 4;

__global__ void __launch_bounds__(128)
    alibi_softmax(const float* __restrict__ s, const float* __restrict__ slope,
                  float* __restrict__ y, int rows, int n) {
  int r = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  int i = r % n;
  float bias = slope[r / n], top = -INFINITY, sum = 0.0f;
  s += static_cast<size_t>(r) * n;
  y += static_cast<size_t>(r) * n;
  for (int first = lane; first <= i; first += 32 * kBatch) {
    float v[kBatch], higher = top;
#pragma unroll
    for (int k = 0; k < kBatch; k++) {
      int j = first + 32 * k;
      v[k] = j <= i ? s[j] - bias * (i - j) : -INFINITY;
      higher = fmaxf(higher, v[k]);
    }
    sum *= __expf(top - higher);
#pragma unroll
    for (int k = 0; k < kBatch; k++) sum += __expf(v[k] - higher);
    top = higher;
  }
  float highest = top;
  for (int step = 16; step > 0; step /= 2)
    highest = fmaxf(highest, __shfl_xor_sync(~0u, highest, step));
  sum *= __expf(top - highest);
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
  float factor = 1.0f / sum;
#pragma unroll 4
  for (int j = lane; j < n; j += 32)
    y[j] = j <= i ? __expf(s[j] - bias * (i - j) - highest) * factor : 0.0f;
}
