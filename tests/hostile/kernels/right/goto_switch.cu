// task: leaky_relu expect: ok
// Switch, goto, do while, comma, macros with __VA_ARGS__, #if.
// @launch kern<<<ceil_div(n, 256), 256>>>(p, q, slope, n)
#define APPLY(f, ...) f(__VA_ARGS__)
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 700
#define GRID_STRIDE(i, n) for (int i = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x; i < (n); i += step)
#endif
__device__ float leaky(float v, float s) {
  switch (v > 0 ? 1 : v < 0 ? 2 : 0) { case 1: return v; case 2: goto scaled; default: break; }
  return 0.0f;
scaled:
  return v * s;
}
__global__ void kern(const float* p, float* q, float slope, int n) {
  GRID_STRIDE(i, n) { int once = 0; do { q[i] = APPLY(leaky, p[i], slope), ++once; } while (once < 1); }
}
