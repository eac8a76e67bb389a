// task: total_sum expect: ok
// red.release and ld.acquire by asm.
// @scratch part float[32]
// @launch clear<<<1, 1>>>()
// @launch kern<<<32, 64>>>(x, part, y, n)
__device__ int count;
__global__ void clear() { count = 0; }
__global__ void kern(const float* x, float* part, float* y, int n) {
  __shared__ float s[64];
  float sum = 0;
  for (int i = blockIdx.x * 64 + threadIdx.x; i < n; i += 2048) sum += x[i];
  s[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x) return;
  for (int k = 1; k < 64; k++) sum += s[k];
  part[blockIdx.x] = sum;
  asm volatile("red.release.gpu.global.add.s32 [%0], 1;" :: "l"(&count) : "memory");
  if (blockIdx.x) return;
  int c;
  do asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(c) : "l"(&count) : "memory"); while (c != 32);
  sum = 0;
  for (int k = 0; k < 32; k++) sum += part[k];
  *y = sum;
}
