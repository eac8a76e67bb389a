// A counting sort of the rows by their bin, then a warp a bin adds up its rows: every output is
// written once, and no float is added by an atomic.
// @scratch counts int[bins]
// @scratch ends int[bins]
// @scratch order int[n]
// @launch zero<<<ceil_div(bins, 256), 256>>>(counts, bins)
// @launch count<<<ceil_div(n, 256), 256>>>(index, counts, n)
// @launch scan<<<1, 1024>>>(counts, ends, bins)
// @launch place<<<ceil_div(n, 256), 256>>>(index, ends, order, n)
// @launch add_up<<<ceil_div(bins, 8), 256>>>(x, counts, ends, order, y, bins, dim)
__global__ void zero(int* counts, int bins) {
  int b = blockIdx.x * blockDim.x + threadIdx.x;
  if (b < bins) counts[b] = 0;
}

__global__ void count(const int* __restrict__ index, int* counts, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&counts[index[i]], 1);
}

// Where each bin begins; place() moves it to where it ends.
__global__ void __launch_bounds__(1024)
    scan(const int* __restrict__ counts, int* __restrict__ begins, int bins) {
  __shared__ int warps[32];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, carried = 0;
  for (int first = 0; first < bins; first += 1024) {
    int b = first + threadIdx.x, own = b < bins ? counts[b] : 0, upto = own;
    for (int step = 1; step < 32; step *= 2) {
      int before = __shfl_up_sync(~0u, upto, step);
      if (lane >= step) upto += before;
    }
    if (lane == 31) warps[warp] = upto;
    __syncthreads();
    int total = warps[lane];
    int before = __reduce_add_sync(~0u, lane < warp ? total : 0);
    if (b < bins) begins[b] = carried + before + upto - own;
    carried += __reduce_add_sync(~0u, total);
    __syncthreads();
  }
}

__global__ void place(const int* __restrict__ index, int* ends, int* __restrict__ order, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) order[atomicAdd(&ends[index[i]], 1)] = i;
}

__global__ void __launch_bounds__(256)
    add_up(const float* __restrict__ x, const int* __restrict__ counts,
           const int* __restrict__ ends, const int* __restrict__ order, float* __restrict__ y,
           int bins, int dim) {
  int b = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (b >= bins) return;
  int end = ends[b], begin = end - counts[b];
  for (int c = lane; c < dim; c += 64) {
    float sum = 0.0f, other = 0.0f;
#pragma unroll 4
    for (int i = begin; i < end; i++) {
      const float* row = x + static_cast<size_t>(order[i]) * dim;
      sum += row[c];
      if (c + 32 < dim) other += row[c + 32];
    }
    y[b * dim + c] = sum;
    if (c + 32 < dim) y[b * dim + c + 32] = other;
  }
}
