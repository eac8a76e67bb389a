// emulate: --launch 'sum<<<1, 256>>>(x, y)' --buffer x=i32[256]:ones --buffer y=i32[1]
// fault: data_race 10
// The tree has no barrier after each step.
__global__ void sum(const int* x, int* y) {
  __shared__ int s[256];
  int t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  for (int h = 128; h > 0; h >>= 1)
    if (t < h) s[t] += s[t + h];
  if (t == 0) *y = s[0];
}
