// task: total_sum expect: ok
// Blocks add in turn: all threads wait in __syncthreads_and for what one of them acquires, and one releases.
// @launch clear<<<1, 1>>>(y)
// @launch kern<<<16, 64>>>(x, y, n)
__device__ int state;
__global__ void clear(float* y) { *y = 0; state = 0; }
__global__ void kern(const float* x, float* y, int n) {
  __shared__ float s[64];
  float sum = 0;
  for (int i = blockIdx.x * 64 + threadIdx.x; i < n; i += 1024) sum += x[i];
  s[threadIdx.x] = sum;
  int now = -1;
  while (__syncthreads_and(now != (int)blockIdx.x)) {
    if (threadIdx.x == 0) asm volatile("ld.global.acquire.gpu.b32 %0, [%1];" : "=r"(now) : "l"(&state) : "memory");
  }
  __syncthreads();
  if (threadIdx.x == 37) { float v = *y; for (int k = 0; k < 64; k++) v += s[k]; *y = v; }
  __syncthreads();
  if (threadIdx.x == 0) asm volatile("st.global.release.gpu.b32 [%0], %1;" :: "l"(&state), "r"((int)blockIdx.x + 1) : "memory");
}
