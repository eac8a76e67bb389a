// task: scatter_add expect: ok
// Every lane takes the lock of its row by itself, and gives it back before another one of its warp goes on.
// @scratch lock int[bins]
// @launch clear<<<ceil_div(bins * dim, 128), 128>>>(y, bins * dim, lock, bins)
// @launch kern<<<ceil_div(n, 96), 96>>>(x, index, y, lock, n, dim)
__global__ void clear(float* y, int elements, int* lock, int bins) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < elements) y[i] = 0;
  if (i < bins) lock[i] = 0;
}
__global__ void kern(const float* x, const int* index, float* y, int* lock, int n, int dim) {
  const int i = blockIdx.x * 96 + threadIdx.x;
  if (i >= n) return;
  volatile float* to = y + index[i] * dim;
  for (bool done = false; !done;) {
    if (atomicExch(&lock[index[i]], 1) != 0) continue;
    __threadfence();
    for (int c = 0; c < dim; ++c) to[c] = to[c] + x[i * dim + c];
    __threadfence();
    atomicExch(&lock[index[i]], 0);
    done = true;
  }
}
