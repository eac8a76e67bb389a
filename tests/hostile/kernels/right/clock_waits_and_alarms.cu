// task: vector_add expect: ok
// A wait with growing pauses, and an alarm if it takes far too long.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  __shared__ volatile int ready;
  __shared__ float offset;
  if (threadIdx.x == 0) ready = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    offset = 0;
    __threadfence_block();
    ready = 1;
  }
  const long long begin = clock64();
  while (ready == 0) {
    const long long gone = clock64() - begin;
    if (gone > 4000000000000ll) __trap();
    __nanosleep(gone > 4096 ? 1024 : static_cast<unsigned>(gone / 4));
  }
  __syncthreads();
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i] + offset;
}
