// task: histogram expect: runtime_fault on-gpu: ok|runtime_fault|wrong_result
// Writes behind a __device__ array.
// @launch kern<<<1, 1>>>(keys, counts, n, bins)
__device__ int kept[16];
__global__ void kern(const int* keys, int* counts, int n, int bins) {
  for (int b = 0; b < bins; ++b) counts[b] = 0;
  for (int i = 0; i < n; ++i) counts[keys[i]] += 1;
  for (int b = 0; b < bins; ++b) kept[b] = counts[b];
  for (int b = 0; b < bins; ++b) counts[b] = kept[b];
}
