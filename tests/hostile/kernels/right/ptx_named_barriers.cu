// task: dot expect: ok
// Producer and consumer warps: bar.arrive and bar.sync of named barriers, two buffers.
// @launch kern<<<1, 64>>>(p, q, out, len)
__global__ void kern(const float* p, const float* q, float* out, int len) {
  __shared__ float products[2][32];
  const int lane = threadIdx.x % 32, steps = (len + 31) / 32;
  if (threadIdx.x < 32) {  // produces; 1 + b: buffer b is full, 3 + b: buffer b is free
    for (int s = 0; s < steps; ++s) {
      const int i = s * 32 + lane, b = s & 1;
      if (s >= 2) asm volatile("bar.sync %0, 64;" :: "r"(3 + b) : "memory");
      products[b][lane] = i < len ? p[i] * q[i] : 0;
      __threadfence_block();
      asm volatile("bar.arrive %0, 64;" :: "r"(1 + b) : "memory");
    }
  } else {
    float sum = 0;
    for (int s = 0; s < steps; ++s) {
      const int b = s & 1;
      asm volatile("bar.sync %0, 64;" :: "r"(1 + b) : "memory");
      sum += products[b][lane];
      if (s + 2 < steps) asm volatile("bar.arrive %0, 64;" :: "r"(3 + b) : "memory");
    }
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
    if (lane == 0) *out = sum;
  }
}
