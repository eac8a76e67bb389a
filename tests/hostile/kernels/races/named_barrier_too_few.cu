// task: dot expect: runtime_fault|timeout|rejected on-gpu: timeout|runtime_fault
// A named barrier for 96 threads in a block of 64: nobody ever leaves it.
// @launch kern<<<1, 64>>>(p, q, out, len)
__global__ void kern(const float* p, const float* q, float* out, int len) {
  float sum = 0;
  for (int i = threadIdx.x; i < len; i += 64) sum += p[i] * q[i];
  asm volatile("bar.sync 1, 96;" ::: "memory");
  if (threadIdx.x == 0) *out = sum;
}
