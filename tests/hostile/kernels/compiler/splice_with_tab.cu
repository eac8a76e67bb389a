// task: vector_add expect: rejected
// A comment that only g++ continues: to NVRTC the next line is a directive.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
// drawing: /\	 
#include </etc/hostname>
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
