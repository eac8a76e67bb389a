// Tensor maps and wgmma, for compute capability 9.0: one thread copies tiles by TMA into four stages; two
// warpgroups multiply 64 rows by 256 columns each. Where rows have no tensor map each thread computes
// whole elements.
// @tensor_map a_map a[m, k] box[128, 64] swizzle 128
// @tensor_map b_map b[k, n] box[64, 64] swizzle 128
// @launch kern<<<dim3(ceil_div(n, 256), ceil_div(m, 128)), 384, 4 * 49152 + 1024>>>(a_map, b_map, a, b, c, m, n, k)
#include <cuda.h>
#include <cuda_fp16.h>

constexpr int kRows = 128, kColumns = 256, kDepth = 64, kStages = 4;
constexpr int kTileA = kRows * kDepth * 2, kTileB = kDepth * kColumns * 2,
              kStage = kTileA + kTileB;  // bytes
constexpr int kPanel = kDepth * 64 * 2;  // bytes of 64 columns of B

__device__ void by_thread(const half* a, const half* b, float* c, int m, int n, int k) {
  for (int e = threadIdx.x; e < kRows * kColumns; e += blockDim.x) {
    const int row = blockIdx.y * kRows + e / kColumns,
              column = blockIdx.x * kColumns + e % kColumns;
    if (row >= m || column >= n) continue;
    float sum = 0;
    for (int i = 0; i < k; ++i)
      sum += __half2float(a[row * k + i]) * __half2float(b[i * n + column]);
    c[row * n + column] = sum;
  }
}

using u32 = unsigned;
using u64 = unsigned long long;

__device__ u32 address_of(const void* p) { return static_cast<u32>(__cvta_generic_to_shared(p)); }

__device__ void init(u64* barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address_of(barrier)), "r"(arrivals));
}
__device__ void arrive(u64* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address_of(barrier)) : "memory");
}
__device__ void wait(u64* barrier, u32 parity) {
  asm volatile(
      "{\n.reg .pred done;\nAGAIN:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n@!done bra AGAIN;\n}" ::"r"(
          address_of(barrier)),
      "r"(parity)
      : "memory");
}
__device__ void copy(void* to, const CUtensorMap& map, int column, int row, u64* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::
          "r"(address_of(to)),
      "l"(&map), "r"(column), "r"(row), "r"(address_of(barrier))
      : "memory");
}

// Rows of 128 bytes, swizzled; `stride` between groups of eight rows, `leading` between panels of 64 columns.
__device__ u64 descriptor(u32 address, u32 leading, u32 stride) {
  return u64{(address & 0x3ffff) >> 4} | u64{leading >> 4} << 16 | u64{stride >> 4} << 32 |
         u64{1} << 62;
}

// d += A B; 64 rows of A along k, B along its columns.
__device__ void multiply(float (&d)[128], u64 a, u64 b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, "
      "%20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, "
      "%38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, "
      "%56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, "
      "%74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, "
      "%92, %93, %94, %95, %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, "
      "%108, %109, %110, %111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, "
      "%123, %124, %125, %126, %127}, "
      "%128, %129, 1, 1, 1, 0, 1;\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
        "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]),
        "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]),
        "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]),
        "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]),
        "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]),
        "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]),
        "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]),
        "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]),
        "+f"(d[63]), "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67]), "+f"(d[68]), "+f"(d[69]),
        "+f"(d[70]), "+f"(d[71]), "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75]), "+f"(d[76]),
        "+f"(d[77]), "+f"(d[78]), "+f"(d[79]), "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83]),
        "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87]), "+f"(d[88]), "+f"(d[89]), "+f"(d[90]),
        "+f"(d[91]), "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95]), "+f"(d[96]), "+f"(d[97]),
        "+f"(d[98]), "+f"(d[99]), "+f"(d[100]), "+f"(d[101]), "+f"(d[102]), "+f"(d[103]),
        "+f"(d[104]), "+f"(d[105]), "+f"(d[106]), "+f"(d[107]), "+f"(d[108]), "+f"(d[109]),
        "+f"(d[110]), "+f"(d[111]), "+f"(d[112]), "+f"(d[113]), "+f"(d[114]), "+f"(d[115]),
        "+f"(d[116]), "+f"(d[117]), "+f"(d[118]), "+f"(d[119]), "+f"(d[120]), "+f"(d[121]),
        "+f"(d[122]), "+f"(d[123]), "+f"(d[124]), "+f"(d[125]), "+f"(d[126]), "+f"(d[127])
      : "l"(a), "l"(b));
}

__device__ void load_stages(char* tiles, u64* full, u64* empty, const CUtensorMap& a,
                            const CUtensorMap& b, int k) {
  const int row = blockIdx.y * kRows, column = blockIdx.x * kColumns;
  for (int step = 0; step * kDepth < k; ++step) {
    const int stage = step % kStages;
    if (step >= kStages) wait(empty + stage, (step / kStages - 1) & 1);
    asm volatile(
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address_of(full + stage)),
        "r"(kStage)
        : "memory");
    char* const tile = tiles + stage * kStage;
    copy(tile, a, step * kDepth, row, full + stage);
    for (int p = 0; p < kColumns / 64; ++p)
      copy(tile + kTileA + p * kPanel, b, column + p * 64, step * kDepth, full + stage);
  }
}

__device__ void multiply_stages(char* tiles, u64* full, u64* empty, float* c, int m, int n, int k) {
  const int group = threadIdx.x / 128, t = threadIdx.x % 128;
  float d[128];
#pragma unroll
  for (float& value : d) value = 0;
  for (int step = 0; step * kDepth < k; ++step) {
    const int stage = step % kStages;
    wait(full + stage, step / kStages & 1);
    const u32 tile = address_of(tiles + stage * kStage);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int part = 0; part < kDepth / 16; ++part) {
      const u64 a = descriptor(tile + group * 64 * 128 + part * 32, 16, 1024);
      const u64 b = descriptor(tile + kTileA + part * 16 * 128, kPanel, 1024);
      multiply(d, a, b);
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    if (t == 0) arrive(empty + stage);
  }
  const int row = blockIdx.y * kRows + group * 64 + t / 32 * 16 + t % 32 / 4;
#pragma unroll
  for (int j = 0; j < 32; ++j) {
    const int column = blockIdx.x * kColumns + j * 8 + t % 4 * 2;
    if (row < m && column < n)
      *reinterpret_cast<float2*>(c + row * n + column) = {d[j * 4], d[j * 4 + 1]};
    if (row + 8 < m && column < n)
      *reinterpret_cast<float2*>(c + (row + 8) * n + column) = {d[j * 4 + 2], d[j * 4 + 3]};
  }
}

__global__ void __launch_bounds__(384)
    kern(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map,
         const half* a, const half* b, float* c, int m, int n, int k) {
  if (k % 8 == 0 && n % 8 == 0) {
    extern __shared__ char memory[];
    __shared__ u64 full[kStages], empty[kStages];
    char* const tiles = memory + (1024 - address_of(memory) % 1024) % 1024;
    if (threadIdx.x == 0) {
      for (int s = 0; s < kStages; ++s) init(full + s, 1), init(empty + s, 2);
      asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    if (threadIdx.x < 256) {
      asm volatile("setmaxnreg.inc.sync.aligned.u32 216;");
      multiply_stages(tiles, full, empty, c, m, n, k);
    } else {
      asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
      if (threadIdx.x == 256) load_stages(tiles, full, empty, a_map, b_map, k);
    }
    return;
  }
  by_thread(a, b, c, m, n, k);
}
