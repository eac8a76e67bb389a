// emulate: --launch 'sum<<<1, 64>>>(x, y)' --buffer x=i32[64]:arange --buffer y=i32[1]
// fault: data_race 10|11|12|13|14|15|17
// The last warp works without any order between its lanes.
__global__ void sum(const int* x, int* y) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  if (t < 32) {
    s[t] += s[t + 32];
    s[t] += s[t + 16];
    s[t] += s[t + 8];
    s[t] += s[t + 4];
    s[t] += s[t + 2];
    s[t] += s[t + 1];
  }
  if (t == 0) *y = s[0];
}
