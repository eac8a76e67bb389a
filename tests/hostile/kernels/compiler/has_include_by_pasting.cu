// task: vector_add expect: rejected
// Asks for a file of the machine with a name that is pasted together.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
#define PASTE(a, b) a##b
#if PASTE(__has_, include)("/etc/passwd")
__device__ int found;
#endif
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
