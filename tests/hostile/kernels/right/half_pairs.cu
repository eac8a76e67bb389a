// task: vector_add expect: ok|wrong_result
// It is wrong for inputs beyond the range of a half, which some evaluations draw.
// half2 arithmetic on the low parts, high parts in float: exact where it matters.
// @launch kern<<<ceil_div(n, 2 * 64), 64>>>(a, b, out, n)
#include <cuda_fp16.h>
__global__ void kern(const float* a, const float* b, float* out, int n) {
  for (int i = 2 * (blockIdx.x * 64 + threadIdx.x), end = min(n, i + 2); i < end; ++i) {
    const __half2 high = __floats2half2_rn(a[i], b[i]);
    const float x = __low2float(high), y = __high2float(high);
    const __half2 zero = __hsub2(high, high);
    out[i] = (x + y) + ((a[i] - x) + (b[i] - y)) + __half2float(__hadd(__low2half(zero), __high2half(zero)));
  }
}
