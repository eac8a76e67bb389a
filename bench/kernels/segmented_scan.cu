// One launch: a block scans pairs of a sum and a flag in its tile of 1024. For the segment that
// enters from the left, its first warp walks back to that segment's start, 32 elements at a time.
// @launch segmented_scan<<<ceil_div(n, 1024), 256>>>(x, flags, y, n)
constexpr int kThreads = 256, kWarps = kThreads / 32, kEach = 4, kTile = kEach * kThreads;

// The sum of the elements before `end` that belong to the segment of element `end`, by a warp.
__device__ int sum_from_left(const int* __restrict__ x, const int* __restrict__ flags, int end) {
  int sum = 0, lane = threadIdx.x % 32;
  for (int last = end - 1; last >= 0; last -= 32) {
    int i = last - lane;
    bool starts = i <= 0 || flags[i] != 0;
    unsigned all = __ballot_sync(~0u, starts);
    int nearest = all == 0 ? 31 : __ffs(all) - 1;
    sum += __reduce_add_sync(~0u, i >= 0 && lane <= nearest ? x[i] : 0);
    if (all != 0) break;
  }
  return sum;
}

__global__ void __launch_bounds__(kThreads)
    segmented_scan(const int* __restrict__ x, const int* __restrict__ flags, int* __restrict__ y,
                   int n) {
  __shared__ int warp_sums[kWarps], warp_starts[kWarps], from_left;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int first = blockIdx.x * kTile + kEach * threadIdx.x;
  int v[kEach], start[kEach];
  if (first + kEach <= n) {
    int4 values = *reinterpret_cast<const int4*>(x + first);
    int4 marks = *reinterpret_cast<const int4*>(flags + first);
    v[0] = values.x, v[1] = values.y, v[2] = values.z, v[3] = values.w;
    start[0] = marks.x != 0, start[1] = marks.y != 0;
    start[2] = marks.z != 0, start[3] = marks.w != 0;
  } else {
#pragma unroll
    for (int k = 0; k < kEach; k++) {
      v[k] = first + k < n ? x[first + k] : 0;
      start[k] = first + k < n ? flags[first + k] != 0 : 0;
    }
  }
  // v becomes the sum since the last start, start whether there is one at or before the element.
#pragma unroll
  for (int k = 1; k < kEach; k++) {
    if (!start[k]) v[k] += v[k - 1];
    start[k] |= start[k - 1];
  }
  int sum = v[kEach - 1], seen = start[kEach - 1];
  for (int step = 1; step < 32; step *= 2) {
    int sum_before = __shfl_up_sync(~0u, sum, step), seen_before = __shfl_up_sync(~0u, seen, step);
    if (lane >= step) {
      if (!seen) sum += sum_before;
      seen |= seen_before;
    }
  }
  if (lane == 31) {
    warp_sums[warp] = sum;
    warp_starts[warp] = seen;
  }
  if (warp == 0) {
    int left = sum_from_left(x, flags, blockIdx.x * kTile);
    if (lane == 0) from_left = left;
  }
  __syncthreads();

  int carried = from_left;
  for (int w = 0; w < warp; w++) carried = warp_sums[w] + (warp_starts[w] ? 0 : carried);
  int sum_before = __shfl_up_sync(~0u, sum, 1), seen_before = __shfl_up_sync(~0u, seen, 1);
  if (lane > 0) carried = sum_before + (seen_before ? 0 : carried);
#pragma unroll
  for (int k = 0; k < kEach; k++)
    if (!start[k]) v[k] += carried;
  if (first + kEach <= n) {
    *reinterpret_cast<int4*>(y + first) = make_int4(v[0], v[1], v[2], v[3]);
  } else {
#pragma unroll
    for (int k = 0; k < kEach; k++)
      if (first + k < n) y[first + k] = v[k];
  }
}
