// emulate: --launch 'sum<<<1, 64>>>(x, y)' --buffer x=i32[64]:arange --buffer y=i32[1] --seed 3
// warning: order_dependent
// Code from before Volta: lanes of a warp are not in step, so __syncwarp is needed despite volatile.
__global__ void sum(const int* x, int* y) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  if (t < 32) {
    volatile int* v = s;
    v[t] += v[t + 32];
    v[t] += v[t + 16];
    v[t] += v[t + 8];
    v[t] += v[t + 4];
    v[t] += v[t + 2];
    v[t] += v[t + 1];
  }
  if (t == 0) *y = s[0];
}
