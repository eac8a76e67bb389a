// A warp a row. Floats become integers of the same order, 0 for hidden ones, so that a lane keeps
// one integer and a column; the warp then reduces by its instructions for integers.
// @launch masked_argmax<<<ceil_div(rows, 4), 128>>>(logits, mask, token, rows, cols)
__device__ unsigned ordered(float value) {
  if (value == 0.0f) value = 0.0f;  // -0 equals 0
  unsigned bits = __float_as_uint(value);
  return bits >> 31 ? ~bits : bits | 1u << 31;
}

__global__ void __launch_bounds__(128)
    masked_argmax(const float* __restrict__ logits, const int* __restrict__ mask,
                  int* __restrict__ token, int rows, int cols) {
  int r = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  logits += static_cast<size_t>(r) * cols;
  mask += static_cast<size_t>(r) * cols;
  unsigned best = 0;
  int column = cols;
#pragma unroll 8
  for (int j = lane; j < cols; j += 32) {
    unsigned value = mask[j] != 0 ? ordered(logits[j]) : 0;
    if (value > best) {
      best = value;
      column = j;
    }
  }
  unsigned top = __reduce_max_sync(~0u, best);
  int first = __reduce_min_sync(~0u, best == top ? column : cols);
  if (lane == 0) token[r] = top == 0 ? -1 : first;
}
