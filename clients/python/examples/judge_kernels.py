"""Judges four kernels for the same task on a server of its own.

python judge_kernels.py            # needs `kernelrl` in the PATH, or its path in KERNELRL; no GPU
"""

import kernelrl

FASTER = """
// @launch row_max<<<m, 128>>>(src, dst, n)
__global__ void row_max(const float* src, float* dst, int n) {
  __shared__ float warps[4];
  float most = -INFINITY;
  for (int i = threadIdx.x; i < n; i += 128) most = fmaxf(most, src[(size_t)blockIdx.x * n + i]);
  for (int step = 16; step > 0; step /= 2) most = fmaxf(most, __shfl_down_sync(~0u, most, step));
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = most;
  __syncthreads();
  if (threadIdx.x == 0) dst[blockIdx.x] = fmaxf(fmaxf(warps[0], warps[1]), fmaxf(warps[2], warps[3]));
}
"""

with kernelrl.local(backend="cpu") as judge:
    print(judge.info().device)
    kernels = {
        "naive": judge.task("row_max").naive,
        "faster": FASTER,
        "racy": FASTER.replace("__syncthreads();", ""),
        "broken": FASTER.replace("float most", "most"),
    }
    results = judge.evaluate_many([("row_max", source) for source in kernels.values()])
    for name, result in zip(kernels, results):
        speedup = f"{result.speedup:.2f}" if result.speedup is not None else "-"
        print(f"{name:8} {result.verdict:14} {speedup:>5}  {result.why}")
