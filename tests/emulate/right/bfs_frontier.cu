// emulate: --launch 'bfs<<<1, 64>>>(level, queue, 64)' --buffer level=i32[64]:-1 --buffer queue=i32[64]
// holds: level = 0 1 1 2 2 2 2 3
// A block walks a binary tree level by level; newly found nodes are appended to a queue.
__global__ void bfs(int* level, int* queue, int n) {
  __shared__ int begin, end, next;
  if (threadIdx.x == 0) {
    level[0] = 0;
    queue[0] = 0;
    begin = 0;
    end = next = 1;
  }
  __syncthreads();
  while (begin < end) {
    for (int q = begin + threadIdx.x; q < end; q += blockDim.x) {
      int v = queue[q];
      for (int c = 2 * v + 1; c <= 2 * v + 2 && c < n; ++c)
        if (atomicCAS(&level[c], -1, level[v] + 1) == -1) queue[atomicAdd(&next, 1)] = c;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      begin = end;
      end = next;
    }
    __syncthreads();
  }
}
