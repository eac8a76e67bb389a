// task: exclusive_scan expect: ok
// A launch for each distance, up to the largest that the ranges need.
// @scratch even int[n]
// @scratch odd int[n]
// @launch shift<<<ceil_div(n, 128), 128>>>(counts, even, n)
// @launch add<<<ceil_div(n, 128), 128>>>(even, odd, n, 1)
// @launch add<<<ceil_div(n, 128), 128>>>(odd, even, n, 2)
// @launch add<<<ceil_div(n, 128), 128>>>(even, odd, n, 4)
// @launch add<<<ceil_div(n, 128), 128>>>(odd, even, n, 8)
// @launch add<<<ceil_div(n, 128), 128>>>(even, odd, n, 16)
// @launch add<<<ceil_div(n, 128), 128>>>(odd, even, n, 32)
// @launch add<<<ceil_div(n, 128), 128>>>(even, odd, n, 64)
// @launch add<<<ceil_div(n, 128), 128>>>(odd, even, n, 128)
// @launch add<<<ceil_div(n, 128), 128>>>(even, odd, n, 256)
// @launch add<<<ceil_div(n, 128), 128>>>(odd, even, n, 512)
// @launch add<<<ceil_div(n, 128), 128>>>(even, odd, n, 1024)
// @launch add<<<ceil_div(n, 128), 128>>>(odd, even, n, 2048)
// @launch add<<<ceil_div(n, 128), 128>>>(even, odd, n, 4096)
// @launch add<<<ceil_div(n, 128), 128>>>(odd, even, n, 8192)
// @launch add<<<ceil_div(n, 128), 128>>>(even, odd, n, 16384)
// @launch add<<<ceil_div(n, 128), 128>>>(odd, even, n, 32768)
// @launch add<<<ceil_div(n, 128), 128>>>(even, odd, n, 65536)
// @launch add<<<ceil_div(n, 128), 128>>>(odd, even, n, 131072)
// @launch add<<<ceil_div(n, 128), 128>>>(even, odd, n, 262144)
// @launch add<<<ceil_div(n, 128), 128>>>(odd, even, n, 524288)
// @launch add<<<ceil_div(n, 128), 128>>>(even, odd, n, 1048576)
// @launch add<<<ceil_div(n, 128), 128>>>(odd, even, n, 2097152)
// @launch add<<<ceil_div(n, 128), 128>>>(even, odd, n, 4194304)
// @launch add<<<ceil_div(n, 128), 128>>>(odd, even, n, 8388608)
// @launch add<<<ceil_div(n, 128), 128>>>(even, odd, n, 16777216)
// @launch add<<<ceil_div(n, 128), 128>>>(odd, even, n, 33554432)
// @launch copy<<<ceil_div(n, 128), 128>>>(even, offsets, n)
__global__ void shift(const int* counts, int* even, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) even[i] = i == 0 ? 0 : counts[i - 1];
}
__global__ void add(const int* from, int* to, int n, int distance) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = i < distance ? from[i] : from[i] + from[i - distance];
}
__global__ void copy(const int* sums, int* offsets, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) offsets[i] = sums[i];
}
