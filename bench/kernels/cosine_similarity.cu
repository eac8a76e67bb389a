// A block a row; a thread has the three sums of its elements, with four float4 of either row in
// flight. The sums are reduced together.
// @launch cosine<<<rows, min(256, 32 * ceil_div(cols, 128))>>>(a, b, y, cols)
constexpr int kBatch = 4;

struct Sums {
  float dot = 0.0f, aa = 0.0f, bb = 0.0f;

  __device__ void add(float u, float v) {
    dot += u * v;
    aa += u * u;
    bb += v * v;
  }
  __device__ void add_up_warp() {
    for (int step = 16; step > 0; step /= 2) {
      dot += __shfl_down_sync(~0u, dot, step);
      aa += __shfl_down_sync(~0u, aa, step);
      bb += __shfl_down_sync(~0u, bb, step);
    }
  }
};

__global__ void __launch_bounds__(256)
    cosine(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ y,
           int cols) {
  __shared__ float warps[3][8];
  size_t first = static_cast<size_t>(blockIdx.x) * cols;
  Sums sums;
  if (cols % 4 == 0) {
    auto a4 = reinterpret_cast<const float4*>(a + first);
    auto b4 = reinterpret_cast<const float4*>(b + first);
    for (int i = threadIdx.x; i < cols / 4; i += kBatch * blockDim.x) {
      float4 u[kBatch], v[kBatch];
#pragma unroll
      for (int k = 0; k < kBatch; k++) {
        int j = i + k * blockDim.x;
        u[k] = j < cols / 4 ? a4[j] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        v[k] = j < cols / 4 ? b4[j] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
      }
#pragma unroll
      for (int k = 0; k < kBatch; k++) {
        sums.add(u[k].x, v[k].x);
        sums.add(u[k].y, v[k].y);
        sums.add(u[k].z, v[k].z);
        sums.add(u[k].w, v[k].w);
      }
    }
  } else {
#pragma unroll 8
    for (int j = threadIdx.x; j < cols; j += blockDim.x) sums.add(a[first + j], b[first + j]);
  }
  sums.add_up_warp();
  int lane = threadIdx.x % 32;
  if (lane == 0) {
    warps[0][threadIdx.x / 32] = sums.dot;
    warps[1][threadIdx.x / 32] = sums.aa;
    warps[2][threadIdx.x / 32] = sums.bb;
  }
  __syncthreads();
  if (threadIdx.x >= 32) return;
  bool has_warp = lane < blockDim.x / 32;
  sums.dot = has_warp ? warps[0][lane] : 0.0f;
  sums.aa = has_warp ? warps[1][lane] : 0.0f;
  sums.bb = has_warp ? warps[2][lane] : 0.0f;
  sums.add_up_warp();
  if (lane == 0) y[blockIdx.x] = sums.dot / fmaxf(sqrtf(sums.aa) * sqrtf(sums.bb), 1e-8f);
}
