// task: vector_add expect: rejected
// A no-break space belongs to a name for g++; to NVRTC a raw string begins after it.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
#define UNUSED  R"(
/*)"
#include </etc/hostname>
//*/
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
