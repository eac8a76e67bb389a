// A warp a row, with online softmax: the maximum and the sum in one pass over four elements a lane
// at a time, then the results in a second one, mostly from the caches.
// @launch softcap_softmax<<<ceil_div(rows, 4), 128>>>(x, y, cap, rows, cols)
constexpr int kBatch = 4;

__global__ void __launch_bounds__(128)
    softcap_softmax(const float* __restrict__ x, float* __restrict__ y, float cap, int rows,
                    int cols) {
  int r = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  x += static_cast<size_t>(r) * cols;
  y += static_cast<size_t>(r) * cols;
  float inverse = 1.0f / cap, top = -INFINITY, sum = 0.0f;
  for (int first = lane; first < cols; first += 32 * kBatch) {
    float v[kBatch], higher = top;
#pragma unroll
    for (int k = 0; k < kBatch; k++) {
      int j = first + 32 * k;
      v[k] = j < cols ? cap * tanhf(x[j] * inverse) : -INFINITY;
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
  for (int j = lane; j < cols; j += 32)
    y[j] = __expf(cap * tanhf(x[j] * inverse) - highest) * factor;
}
