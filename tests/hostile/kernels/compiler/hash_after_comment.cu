// task: vector_add expect: rejected
// NVRTC takes a # after a comment of several lines for the first token of its line.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__device__ int x; /* a
*/ #include </etc/hostname>
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
