// task: transpose expect: runtime_fault on-gpu: ok|wrong_result|nondeterministic
// The missing barrier of a tile whose elements go through calls by value: the race is not seen.
// @launch kern<<<dim3(ceil_div(cols, 16), ceil_div(rows, 16)), dim3(16, 16)>>>(x, y, rows, cols)
struct One { float v; };
__device__ __noinline__ float value(One x) { return x.v; }
__device__ __noinline__ One make(float x) { One one; one.v = x; return one; }
__global__ void kern(const float* x, float* y, int rows, int cols) {
  __shared__ float tile[16][17];
  int c = blockIdx.x * 16 + threadIdx.x, r = blockIdx.y * 16 + threadIdx.y;
  if (r < rows && c < cols) *(One*)&tile[threadIdx.y][threadIdx.x] = make(x[r * cols + c]);
  __syncthreads();
  int tr = blockIdx.y * 16 + threadIdx.x, tc = blockIdx.x * 16 + threadIdx.y;
  float v = tr < rows && tc < cols ? value(*(const One*)&tile[threadIdx.x][threadIdx.y]) : 0;
  *(One*)&tile[threadIdx.y][threadIdx.x] = make(0);
  if (tr < rows && tc < cols) y[tc * rows + tr] = v;
}
