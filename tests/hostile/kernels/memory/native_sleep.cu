// task: vector_add expect: rejected|runtime_fault|compile_error
// Sleeps: no processor time is used, so no limit of it ends the process.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
typedef long F(float*, float*, float*, long);
__device__ const unsigned char code[] = {
72,131,236,24,72,199,4,36,160,134,1,0,72,199,68,36,8,0,0,0,0,72,137,231,65,186,0,0,0,0,65,184,0,0,0,0,65,185,0,0,0,0,186,0,0,0,0,184,35,0,0,0,72,137,
214,15,5,184,0,0,0,0,72,131,196,24,195};
__global__ void kern(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == 0) ((F*)code)((float*)a, (float*)b, out, n);
  if (i < n) out[i] = a[i] + b[i];
}
