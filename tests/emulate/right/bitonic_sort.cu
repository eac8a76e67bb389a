// emulate: --launch 'sort<<<1, 128>>>(keys)' --launch 'reverse<<<1, 128>>>(keys)' --buffer keys=i32[128]:arange
// holds: keys = 127 126 125 124 123 122 121 120
// Sorts a block's keys in shared memory; the second kernel turns them round.
__global__ void sort(int* keys) {
  __shared__ int s[128];
  int t = threadIdx.x;
  s[t] = (keys[t] * 37) % 128;
  __syncthreads();
  for (int k = 2; k <= 128; k <<= 1) {
    for (int j = k >> 1; j > 0; j >>= 1) {
      int other = t ^ j;
      if (other > t) {
        bool up = (t & k) == 0;
        if ((s[t] > s[other]) == up) {
          int held = s[t];
          s[t] = s[other];
          s[other] = held;
        }
      }
      __syncthreads();
    }
  }
  keys[t] = s[t];
}
__global__ void reverse(int* keys) {
  int t = threadIdx.x;
  int key = keys[t];
  __syncthreads();
  keys[blockDim.x - 1 - t] = key;
}
