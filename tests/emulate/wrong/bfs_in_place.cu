// emulate: --launch 'start<<<1, 64>>>(level, 64)' --launch 'visit<<<1, 64>>>(level, 64, 0)' --buffer level=i32[64]
// fault: data_race 10|12
// One array for both levels: a thread reads a node's level while its parent writes it.
__global__ void start(int* level, int n) {
  int v = threadIdx.x;
  if (v < n) level[v] = v == 0 ? 0 : -1;
}
__global__ void visit(int* level, int n, int depth) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n || level[v] != depth) return;
  for (int child = 2 * v + 1; child <= 2 * v + 2; ++child)
    if (child < n) level[child] = depth + 1;
}
