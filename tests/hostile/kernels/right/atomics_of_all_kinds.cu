// task: histogram expect: ok
// add, sub, exch, min, max, inc, dec, cas, and, or, xor: together they leave what a histogram needs.
// @scratch s int[16]
// @launch clear<<<1, 64>>>(counts, s, bins)
// @launch kern<<<ceil_div(n, 128), 128>>>(keys, counts, s, n)
// @launch check<<<1, 1>>>(counts, s, n)
__global__ void clear(int* counts, int* s, int bins) {
  if (threadIdx.x < bins) counts[threadIdx.x] = threadIdx.x == 0 ? -1 : 0;  // check makes up for it
  if (threadIdx.x < 16) s[threadIdx.x] = threadIdx.x == 7 ? -1 : 0;
}
__global__ void kern(const int* keys, int* counts, int* s, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= n) return;
  const int key = keys[i];
  atomicAdd(&counts[key], 2);
  atomicSub(&counts[key], 1);
  atomicMax(&s[0], key);
  atomicMin(&s[1], -key);
  atomicInc((unsigned*)&s[2], 0xffffffffu);
  atomicDec((unsigned*)&s[3], 0xffffffffu);
  atomicOr(&s[4], 1 << key % 31);
  atomicXor(&s[5], 0);
  atomicExch(&s[6], 5);
  atomicAnd(&s[7], ~(1 << key % 31));
  int seen = 0, old;
  do {
    old = seen;
    seen = atomicCAS(&s[8], old, old + 1);
  } while (seen != old);
}
__global__ void check(int* counts, const int* s, int n) {
  const bool good = s[0] == -s[1] && s[2] == n && s[3] == -n && s[4] == ~s[7] && s[5] == 0 && s[6] == 5 && s[8] == n;
  if (good) ++counts[0];
}
