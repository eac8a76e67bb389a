// task: vector_add expect: ok
// Structures are copied with their padding, which nobody has written, through local, shared and global memory.
// @scratch kept float[n * 4]
// @launch add<<<ceil_div(n, 64), 64>>>(a, b, kept, n)
// @launch copy<<<ceil_div(n, 64), 64>>>(kept, out, n)
struct alignas(16) Pair {
  float sum;
  char tag;
  float other;
};
__global__ void add(const float* a, const float* b, float* kept, int n) {
  __shared__ Pair pairs[64];
  const int i = blockIdx.x * 64 + threadIdx.x;
  Pair mine[3];
  const int at = n % 3;
  mine[at].sum = i < n ? a[i] + b[i] : 0;
  mine[at].tag = 1;
  mine[at].other = 0;
  pairs[threadIdx.x] = mine[at];
  __syncthreads();
  if (i < n) *(float4*)(kept + 4 * i) = *(const float4*)&pairs[threadIdx.x];
}
__global__ void copy(const float* kept, float* out, int n) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  if (i < n) out[i] = ((const Pair*)kept)[i].sum;
}
