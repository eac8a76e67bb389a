// task: vector_add expect: ok|rejected|compile_error
// A variable that gets the name of the kernel by an asm label.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__device__ int kept asm("_Z4kernPKfS0_Pfi") = 1;
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
