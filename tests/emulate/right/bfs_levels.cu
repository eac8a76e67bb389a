// emulate: --launch 'start<<<1, 64>>>(level, 64)' --launch 'visit<<<1, 64>>>(0, level, next, 64)' --launch 'visit<<<1, 64>>>(1, next, level, 64)'
// emulate: --launch 'visit<<<1, 64>>>(2, level, next, 64)' --buffer level=i32[64] --buffer next=i32[64]
// holds: next = 0 1 1 2 2 2 2 3
// Breadth-first search in a binary tree, one launch per level; each reads one array and writes another.
__global__ void start(int* level, int n) {
  int v = threadIdx.x;
  if (v < n) level[v] = v == 0 ? 0 : -1;
}
__global__ void visit(int depth, const int* level, int* next, int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  next[v] = level[v];
  int parent = (v - 1) / 2;
  if (v > 0 && level[v] < 0 && level[parent] == depth) next[v] = depth + 1;
}
