// emulate: --launch 'stencil<<<4, 64>>>(in, out, 256)' --buffer in=i32[262]:ones --buffer out=i32[256]
// holds: out = 7 7 7 7 7 7 7 7
// A one-dimensional stencil; the first threads of a block also load the halo.
#define RADIUS 3
#define BLOCK 64
__global__ void stencil(const int* in, int* out, int n) {
  __shared__ int tile[BLOCK + 2 * RADIUS];
  int g = blockIdx.x * blockDim.x + threadIdx.x + RADIUS;
  int l = threadIdx.x + RADIUS;
  tile[l] = in[g];
  if (threadIdx.x < RADIUS) {
    tile[l - RADIUS] = in[g - RADIUS];
    tile[l + BLOCK] = in[g + BLOCK];
  }
  __syncthreads();
  int sum = 0;
  for (int d = -RADIUS; d <= RADIUS; d++) sum += tile[l + d];
  out[g - RADIUS] = sum;
}
