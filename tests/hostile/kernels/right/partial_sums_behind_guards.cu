// task: row_sum expect: ok
// Only warps with columns leave a partial sum, and only theirs are added. The compiler loads all of
// them, as they are at constant addresses, and then chooses.
// @launch row_sum<<<rows, 96>>>(x, y, cols)
__global__ void row_sum(const float* x, float* y, int cols) {
  __shared__ float part[3];
  int warp = threadIdx.x / 32, warps = min(3, (cols + 31) / 32);
  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += 96) sum += x[static_cast<size_t>(blockIdx.x) * cols + c];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
  if (threadIdx.x % 32 == 0 && warp < warps) part[warp] = sum;
  __syncthreads();
  float all = part[0];
  if (warps > 1) all += part[1];
  if (warps > 2) all += part[2];
  if (threadIdx.x == 0) y[blockIdx.x] = all;
}
