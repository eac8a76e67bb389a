// task: histogram expect: ok
// 64-bit atomics: several 8-bit counters in one word would overflow, so two 32-bit ones.
// @scratch wide float[2 * 24]
// @launch clear<<<1, 48>>>(wide)
// @launch kern<<<4, 128>>>(keys, wide, n)
// @launch unpack<<<1, bins>>>(wide, counts)
__global__ void clear(float* wide) { ((int*)wide)[threadIdx.x] = 0; }
__global__ void kern(const int* keys, float* wide, int n) {
  unsigned long long* words = (unsigned long long*)wide;
  for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += 512) {
    const int key = keys[i];
    atomicAdd(&words[key >> 1], key & 1 ? 1ull << 32 : 1ull);
  }
}
__global__ void unpack(const float* wide, int* counts) { counts[threadIdx.x] = ((const int*)wide)[threadIdx.x]; }
