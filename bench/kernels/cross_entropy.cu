// A block a row, read once: every thread keeps the greatest logit and the sum of exponentials
// relative to it, 16 logits at a time; pairs of these are merged over the warp and the warps.
// @launch cross_entropy<<<rows, min(512, 32 * ceil_div(cols, 512))>>>(logits, labels, loss, cols)
constexpr int kEach = 16;

// The sum of exp(logit - top); empty if top is -infinity.
struct Exponentials {
  float top, sum;

  __device__ void merge(float other_top, float other_sum) {
    float greater = fmaxf(top, other_top);
    if (greater == -INFINITY) return;
    sum = sum * __expf(top - greater) + other_sum * __expf(other_top - greater);
    top = greater;
  }
  __device__ void merge_warp() {
    for (int step = 16; step > 0; step /= 2) {
      float other_top = __shfl_down_sync(~0u, top, step);
      float other_sum = __shfl_down_sync(~0u, sum, step);
      merge(other_top, other_sum);
    }
  }
  __device__ void add(const float (&v)[kEach]) {
    float greater = top;
#pragma unroll
    for (int k = 0; k < kEach; k++) greater = fmaxf(greater, v[k]);
    if (greater == -INFINITY) return;
    sum *= __expf(top - greater);
#pragma unroll
    for (int k = 0; k < kEach; k++) sum += __expf(v[k] - greater);
    top = greater;
  }
};

__global__ void __launch_bounds__(512, 3)
    cross_entropy(const float* __restrict__ logits, const int* __restrict__ labels,
                  float* __restrict__ loss, int cols) {
  const float* row = logits + static_cast<size_t>(blockIdx.x) * cols;
  Exponentials seen = {-INFINITY, 0.0f};
  float v[kEach];
  if (cols % 4 == 0) {
    for (int first = 4 * threadIdx.x; first < cols; first += kEach * blockDim.x) {
#pragma unroll
      for (int k = 0; k < kEach; k += 4) {
        int j = first + k * blockDim.x;
        float4 part = make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
        if (j < cols) part = *reinterpret_cast<const float4*>(row + j);
        v[k] = part.x;
        v[k + 1] = part.y;
        v[k + 2] = part.z;
        v[k + 3] = part.w;
      }
      seen.add(v);
    }
  } else {
    for (int first = threadIdx.x; first < cols; first += kEach * blockDim.x) {
#pragma unroll
      for (int k = 0; k < kEach; k++) {
        int j = first + k * blockDim.x;
        v[k] = j < cols ? row[j] : -INFINITY;
      }
      seen.add(v);
    }
  }

  __shared__ Exponentials warps[16];
  seen.merge_warp();
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = seen;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  seen = {-INFINITY, 0.0f};
  if (threadIdx.x < blockDim.x / 32) seen = warps[threadIdx.x];
  seen.merge_warp();
  if (threadIdx.x == 0) loss[blockIdx.x] = logf(seen.sum) + seen.top - row[labels[blockIdx.x]];
}
