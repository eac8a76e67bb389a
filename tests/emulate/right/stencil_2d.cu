// emulate: --launch 'jacobi<<<dim3(2, 2), dim3(16, 16)>>>(u, v, 34)' --launch 'jacobi<<<dim3(2, 2), dim3(16, 16)>>>(v, u, 34)'
// emulate: --buffer u=f32[34,34]:4 --buffer v=f32[34,34]:4
// holds: u = 4 4 4 4 4 4 4 4
// Two sweeps of Jacobi's method on a tile with a halo; the edge keeps its values.
const int T = 16;
__global__ void jacobi(const float* u, float* v, int width) {
  __shared__ float s[T + 2][T + 2];
  int x = blockIdx.x * T + threadIdx.x + 1, y = blockIdx.y * T + threadIdx.y + 1;
  int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  s[ty][tx] = u[y * width + x];
  if (tx == 1) s[ty][0] = u[y * width + x - 1];
  if (tx == T) s[ty][T + 1] = u[y * width + x + 1];
  if (ty == 1) s[0][tx] = u[(y - 1) * width + x];
  if (ty == T) s[T + 1][tx] = u[(y + 1) * width + x];
  __syncthreads();
  v[y * width + x] = 0.25f * (s[ty][tx - 1] + s[ty][tx + 1] + s[ty - 1][tx] + s[ty + 1][tx]);
}
