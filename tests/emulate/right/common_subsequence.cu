// emulate: --launch 'lcs<<<1, 64>>>(a, b, out)' --buffer a=i32[64]:arange --buffer b=i32[64]:arange --buffer out=i32[1]
// holds: out = 64
// The longest common subsequence by anti-diagonals, three of which are kept in shared memory.
__global__ void lcs(const int* a, const int* b, int* out) {
  __shared__ int d[3][65];
  int t = threadIdx.x, n = blockDim.x;
  for (int k = 0; k < 3; ++k) d[k][t + 1] = 0;
  if (t < 3) d[t][0] = 0;
  __syncthreads();
  for (int k = 0; k < 2 * n - 1; ++k) {
    int j = k - t;
    int *now = d[k % 3], *one = d[(k + 2) % 3], *two = d[(k + 1) % 3];
    if (j >= 0 && j < n) {
      int diagonal = j > 0 ? two[t] : 0;
      now[t + 1] = a[t] == b[j] ? diagonal + 1 : max(one[t], j > 0 ? one[t + 1] : 0);
    }
    __syncthreads();
  }
  if (t == n - 1) *out = d[(2 * n - 2) % 3][n];
}
