// task: leaky_relu expect: ok|rejected
// A table of device functions, indexed at run time.
// @launch kern<<<ceil_div(n, 128), 128>>>(p, q, slope, n)
typedef float (*Apply)(float, float);
__device__ float keep(float v, float) { return v; }
__device__ float shrink(float v, float s) { return v * s; }
__device__ const Apply kTable[2] = {keep, shrink};
__global__ void kern(const float* p, float* q, float slope, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) q[i] = kTable[p[i] < slope * p[i]](p[i], slope);
}
