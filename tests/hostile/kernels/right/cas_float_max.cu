// task: total_max expect: ok
// atomicMax of a float by compare-and-swap.
// @launch init<<<1, 1>>>(res)
// @launch kern<<<6, 96>>>(a, res, N)
__global__ void init(float* res) { *res = -INFINITY; }
__global__ void kern(const float* a, float* res, int N) {
  float best = -INFINITY;
  for (int i = blockIdx.x * 96 + threadIdx.x; i < N; i += 576) best = fmaxf(best, a[i]);
  int* at = (int*)res;
  int old = *(volatile int*)at;
  while (__int_as_float(old) < best) {
    const int seen = atomicCAS(at, old, __float_as_int(best));
    if (seen == old) break;
    old = seen;
  }
}
