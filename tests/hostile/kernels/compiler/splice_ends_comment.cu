// task: vector_add expect: rejected
// A comment that ends one line earlier to g++ than to NVRTC.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
/* *\ 
/ __device__ const char* when = __TIME__; /* */
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
