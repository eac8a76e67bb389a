// task: prefix_sum expect: ok
// cub::BlockLoad, BlockScan and BlockStore, several items a thread, one block with a carry.
// @launch kern<<<1, 128>>>(x, y, n)
#include <cub/block/block_load.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
__global__ void kern(const float* x, float* y, int n) {
  using Load = cub::BlockLoad<float, 128, 4, cub::BLOCK_LOAD_TRANSPOSE>;
  using Store = cub::BlockStore<float, 128, 4, cub::BLOCK_STORE_TRANSPOSE>;
  using Scan = cub::BlockScan<float, 128>;
  __shared__ union { typename Load::TempStorage load; typename Store::TempStorage store; typename Scan::TempStorage scan; } memory;
  float carry = 0;
  for (int base = 0; base < n; base += 512) {
    const int valid = min(512, n - base);
    float items[4], total;
    Load(memory.load).Load(x + base, items, valid, 0.0f);
    __syncthreads();
    Scan(memory.scan).InclusiveSum(items, items, total);
    for (float& v : items) v += carry;
    carry += total;
    __syncthreads();
    Store(memory.store).Store(y + base, items, valid);
    __syncthreads();
  }
}
