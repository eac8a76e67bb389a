// Message passing over edges with atomics and a mean over neighbours; BFS frontier.
__global__ void scatter_messages(const int* src, const int* dst, const float* x, float* out, int* degree, int edges, int dim) {
  const int e = blockIdx.x;
  if (e >= edges) return;
  for (int d = threadIdx.x; d < dim; d += blockDim.x) atomicAdd(&out[dst[e] * dim + d], x[src[e] * dim + d]);
  if (threadIdx.x == 0) atomicAdd(&degree[dst[e]], 1);
}
__global__ void bfs_step(const int* row_ptr, const int* col, int* distance, const int* frontier, int count, int* next, int* next_count, int level) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const int v = frontier[i];
  for (int e = row_ptr[v]; e < row_ptr[v + 1]; ++e) {
    const int u = col[e];
    if (distance[u] == -1 && atomicCAS(&distance[u], -1, level + 1) == -1) next[atomicAdd(next_count, 1)] = u;
  }
}
