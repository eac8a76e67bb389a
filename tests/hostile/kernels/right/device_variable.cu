// task: total_sum expect: ok
// A __device__ variable as memory between two launches.
// @launch begin<<<1, 1>>>()
// @launch add<<<8, 128>>>(x, n)
// @launch end<<<1, 1>>>(y)
__device__ double total;
__global__ void begin() { total = 0; }
__global__ void add(const float* x, int n) {
  double sum = 0;
  for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += gridDim.x * 128) sum += x[i];
  atomicAdd(&total, sum);
}
__global__ void end(float* y) { *y = (float)total; }
