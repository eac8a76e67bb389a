// task: vector_add expect: rejected
// Where a group is skipped, NVRTC takes a digit separator for a quote, and no comment begins.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
#if 0
1'0 /*
#endif
#include </etc/hostname>
//*/
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
