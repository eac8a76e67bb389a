// task: histogram expect: ok|rejected|compile_error
// Needs compute capability 8.0: __reduce_add, min, max, and, or, xor of one warp a bin.
// @launch kern<<<bins, 32>>>(keys, counts, n)
__global__ void kern(const int* keys, int* counts, int n) {
  unsigned mine = 0;
  for (int i = threadIdx.x; i < n; i += 32) mine += keys[i] == (int)blockIdx.x;
  const unsigned all = 0xffffffffu;
  const unsigned sum = __reduce_add_sync(all, mine), low = __reduce_min_sync(all, mine), high = __reduce_max_sync(all, mine);
  const unsigned both = __reduce_and_sync(all, mine), some = __reduce_or_sync(all, mine), odd = __reduce_xor_sync(all, mine);
  const bool agree = low <= high && (both & some) == both && ((odd ^ sum) & 1) == 0;
  if (threadIdx.x == 0) counts[blockIdx.x] = agree ? (int)sum : -1;
}
