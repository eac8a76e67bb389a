// emulate: --launch 'reduce<<<1, 128>>>(x, y)' --buffer x=i32[128]:arange --buffer y=i32[1]
// holds: y = 8128
// The last warp needs no block barrier, but __syncwarp between each read and write.
__device__ void last_warp(volatile int* s, int t) {
  int v = s[t];
  v += s[t + 32]; __syncwarp();
  s[t] = v; __syncwarp();
  v += s[t + 16]; __syncwarp();
  s[t] = v; __syncwarp();
  v += s[t + 8]; __syncwarp();
  s[t] = v; __syncwarp();
  v += s[t + 4]; __syncwarp();
  s[t] = v; __syncwarp();
  v += s[t + 2]; __syncwarp();
  s[t] = v; __syncwarp();
  v += s[t + 1]; __syncwarp();
  s[t] = v;
}
__global__ void reduce(const int* x, int* y) {
  __shared__ int s[128];
  int t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  if (t < 64) s[t] += s[t + 64];
  __syncthreads();
  if (t < 32) last_warp(s, t);
  if (t == 0) y[0] = s[0];
}
