// task: prefix_sum expect: ok
// Blocks take turns by a ticket: block after block, each adds its carry to the next.
// @scratch turn int[2]
// @scratch carry float[1]
// @launch clear<<<1, 1>>>(turn, carry)
// @launch kern<<<8, 32>>>(x, y, turn, carry, n)
__global__ void clear(int* turn, float* carry) { turn[0] = turn[1] = 0; *carry = 0; }
__global__ void kern(const float* x, float* y, int* turn, float* carry, int n) {
  __shared__ int ticket;
  if (threadIdx.x == 0) ticket = atomicAdd(&turn[0], 1);
  __syncwarp();
  const int each = (n + 7) / 8, begin = min(n, ticket * each), end = min(n, begin + each);
  if (threadIdx.x == 0) {
    while (atomicAdd(&turn[1], 0) != ticket) {}
    __threadfence();
    float sum = *(volatile float*)carry;
    for (int i = begin; i < end; ++i) y[i] = sum += x[i];
    *(volatile float*)carry = sum;
    __threadfence();
    atomicAdd(&turn[1], 1);
  }
}
