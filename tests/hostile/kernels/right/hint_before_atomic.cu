// task: total_max expect: ok
// What is read without an atomic only saves one: an old value makes the kernel slower, not wrong.
// @scratch best int[1]
// @launch clear<<<1, 1>>>(best)
// @launch kern<<<16, 128>>>(a, best, N)
// @launch finish<<<1, 1>>>(best, res)
__device__ int key_of(float v) { return __float_as_int(v) < 0 ? __float_as_int(v) ^ 0x7fffffff : __float_as_int(v); }
__global__ void clear(int* best) { *best = 0x80000000; }
__global__ void kern(const float* a, int* best, int N) {
  for (int i = blockIdx.x * 128 + threadIdx.x; i < N; i += 16 * 128) {
    const int key = key_of(a[i]);
    if (key > *(volatile int*)best) atomicMax(best, key);
  }
}
__global__ void finish(const int* best, float* res) {
  *res = __int_as_float(*best < 0 ? *best ^ 0x7fffffff : *best);
}
