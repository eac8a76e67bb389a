// task: histogram
// @launch clear<<<1, 48>>>(counts)
// @launch count<<<n / 249, 256>>>(keys, counts, n)
__global__ void clear(int* counts) { counts[threadIdx.x] = 0; }
__global__ void count(const int* keys, int* counts, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&counts[keys[i]], 1);
}
