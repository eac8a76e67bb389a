// Merge path partition and merging of two sorted arrays; odd-even transposition.
__device__ int merge_path(const int* a, int na, const int* b, int nb, int diagonal) {
  int low = max(0, diagonal - nb), high = min(diagonal, na);
  while (low < high) {
    const int mid = (low + high) / 2;
    if (a[mid] <= b[diagonal - 1 - mid]) low = mid + 1;
    else high = mid;
  }
  return low;
}
__global__ void merge(const int* a, int na, const int* b, int nb, int* out, int each) {
  const int begin = min(na + nb, (int)(blockIdx.x * blockDim.x + threadIdx.x) * each), end = min(na + nb, begin + each);
  int i = merge_path(a, na, b, nb, begin), j = begin - i;
  for (int k = begin; k < end; ++k) out[k] = j >= nb || (i < na && a[i] <= b[j]) ? a[i++] : b[j++];
}
__global__ void odd_even(int* x, int n) {
  extern __shared__ int s[];
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  for (int step = 0; step < n; ++step) {
    if ((int)threadIdx.x % 2 == step % 2 && (int)threadIdx.x + 1 < n && s[threadIdx.x] > s[threadIdx.x + 1]) {
      const int t = s[threadIdx.x];
      s[threadIdx.x] = s[threadIdx.x + 1];
      s[threadIdx.x + 1] = t;
    }
    __syncthreads();
  }
  x[threadIdx.x] = s[threadIdx.x];
}
