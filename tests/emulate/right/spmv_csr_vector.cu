// emulate: --launch 'spmv<<<4, 128>>>(rows, val, x, y)' --buffer val=f32[16,50]:ones --buffer x=f32[50]:arange --buffer y=f32[16]:zeros --value rows=16
// holds: y = 1225 1225 1225 1225
// One warp per row: lanes stride over the entries and reduce in shared memory, with __syncwarp.
__global__ void spmv(int rows, const float* val, const float* x, float* y) {
  __shared__ float part[128];
  int warp = (blockDim.x * blockIdx.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
  if (warp >= rows) return;
  float sum = 0;
  for (int k = lane; k < 50; k += 32) sum += val[warp * 50 + k] * x[k];
  part[threadIdx.x] = sum;
  __syncwarp();
  for (int d = 16; d > 0; d /= 2) {
    if (lane < d) part[threadIdx.x] += part[threadIdx.x + d];
    __syncwarp();
  }
  if (lane == 0) y[warp] += part[threadIdx.x];
}
