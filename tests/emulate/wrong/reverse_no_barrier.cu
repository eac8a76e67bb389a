// emulate: --launch 'reverse<<<1, 64>>>(d, 64)' --buffer d=i32[64]:arange
// fault: uninitialised_shared 8
// The barrier between writing and reading the shared array is missing.
__global__ void reverse(int* d, int n) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = d[t];
  d[t] = s[n - t - 1];
}
