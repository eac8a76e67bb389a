// emulate: --launch 'init<<<2, 64>>>(128)' --launch 'unite<<<2, 64>>>(128)' --launch 'flatten<<<2, 64>>>(root, 128)'
// emulate: --buffer root=i32[128]
// holds: root = 0 1 2 3 0 1 2 3
// Components of the graph whose edges join i and i + 4: a lock-free union-find.
__device__ int parent[128];
__device__ int find(int v) {
  volatile int* p = parent;
  while (p[v] != v) v = p[v];
  return v;
}
__global__ void init(int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) parent[i] = i;
}
__global__ void unite(int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + 4 >= n) return;
  int a = find(i), b = find(i + 4);
  while (a != b) {
    int high = max(a, b), low = min(a, b);
    int old = atomicCAS(&parent[high], high, low);
    if (old == high) break;
    a = find(old);
    b = find(low);
  }
}
__global__ void flatten(int* root, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) root[i] = find(i);
}
