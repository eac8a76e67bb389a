// Online softmax of half rows with masks.
#include <cuda_fp16.h>
__global__ void softmax_half_online(const __half* x, const unsigned char* mask, __half* y, int cols, float scale) {
  const size_t base = (size_t)(blockIdx.x * blockDim.y + threadIdx.y) * cols;
  float top = -INFINITY, sum = 0;
  for (int c = threadIdx.x; c < cols; c += 32) {
    const float v = mask[base + c] ? -10000.0f : __half2float(x[base + c]) * scale;
    const float now = fmaxf(top, v);
    sum = sum * __expf(top - now) + __expf(v - now);
    top = now;
  }
  for (int o = 16; o; o >>= 1) {
    const float t = __shfl_xor_sync(0xffffffff, top, o), s = __shfl_xor_sync(0xffffffff, sum, o), now = fmaxf(top, t);
    sum = sum * __expf(top - now) + s * __expf(t - now);
    top = now;
  }
  const float inverse = 1.f / sum;
  for (int c = threadIdx.x; c < cols; c += 32) {
    const float v = mask[base + c] ? -10000.0f : __half2float(x[base + c]) * scale;
    y[base + c] = __float2half_rn(__expf(v - top) * inverse);
  }
}
