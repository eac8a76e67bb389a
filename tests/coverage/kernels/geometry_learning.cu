// k-means assignment and update, pairwise distances, nearest neighbours, farthest points, chamfer.
__global__ void assign(const float* x, const float* centers, int* label, float* sums, int* counts, int n, int k, int d) {
  extern __shared__ float c[];
  for (int i = threadIdx.x; i < k * d; i += blockDim.x) c[i] = centers[i];
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float best = INFINITY;
  int at = 0;
  for (int j = 0; j < k; ++j) {
    float s = 0;
    for (int e = 0; e < d; ++e) {
      const float t = x[i * d + e] - c[j * d + e];
      s += t * t;
    }
    if (s < best) best = s, at = j;
  }
  label[i] = at;
  atomicAdd(&counts[at], 1);
  for (int e = 0; e < d; ++e) atomicAdd(&sums[at * d + e], x[i * d + e]);
}
__global__ void farthest_points(const float3* p, float* distance, int* chosen, int n, int m) {
  __shared__ float best[256];
  __shared__ int where[256];
  int last = 0;
  if (threadIdx.x == 0) chosen[0] = 0;
  for (int k = 1; k < m; ++k) {
    float b = -1;
    int at = 0;
    for (int i = threadIdx.x; i < n; i += 256) {
      const float dx = p[i].x - p[last].x, dy = p[i].y - p[last].y, dz = p[i].z - p[last].z;
      const float d = fminf(distance[i], dx * dx + dy * dy + dz * dz);
      distance[i] = d;
      if (d > b) b = d, at = i;
    }
    best[threadIdx.x] = b;
    where[threadIdx.x] = at;
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
      if (threadIdx.x < s && best[threadIdx.x + s] > best[threadIdx.x]) best[threadIdx.x] = best[threadIdx.x + s], where[threadIdx.x] = where[threadIdx.x + s];
      __syncthreads();
    }
    last = where[0];
    if (threadIdx.x == 0) chosen[k] = last;
    __syncthreads();
  }
}
__global__ void chamfer(const float3* a, const float3* b, float* out, int n, int m) {
  __shared__ float3 tile[64];
  const int i = blockIdx.x * 64 + threadIdx.x;
  float best = INFINITY;
  for (int j0 = 0; j0 < m; j0 += 64) {
    if (j0 + threadIdx.x < m) tile[threadIdx.x] = b[j0 + threadIdx.x];
    __syncthreads();
    if (i < n)
      for (int j = 0; j < min(64, m - j0); ++j) {
        const float dx = a[i].x - tile[j].x, dy = a[i].y - tile[j].y, dz = a[i].z - tile[j].z;
        best = fminf(best, dx * dx + dy * dy + dz * dz);
      }
    __syncthreads();
  }
  if (i < n) atomicAdd(out, sqrtf(best));
}
