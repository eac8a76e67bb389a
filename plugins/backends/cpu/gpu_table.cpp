#include "plugins/backends/cpu/gpu_table.hpp"

namespace krl::cpu {
namespace {

// Fitted by bench/calibrate.py to the times of 198 kernels, two shapes each, measured on an NVIDIA
// H200 (NVRTC 13.0; bench/results/h200_agreement.csv), except for what is called an
// estimate: those kernels are small and say nothing about it.
constexpr ModelConstants kCalibrated = {
    .overlap_loss = 0.15,   // estimated
    .hidden_by_path = 0.5,  // estimated
    .clocks_per_chain_clock = 2.33,
    .clocks_per_request = 2,   // estimated: the tags of L1 are looked up at half the rate
    .clocks_per_sector = 0.4,  // 80 bytes a clock
    .clocks_per_new_instruction = 2.7,
    .clocks_per_block = 40,  // estimated
    .queued_share = 0.216,
    .block_spread_ns = 7.4,
    .request_spread_ns = 35.8,
};

// 32 lanes over the results per clock of an SM: CUDA C++ Programming Guide, "Throughput of Native
// Arithmetic Instructions", by compute capability. Two instructions of 32 bits for one of 64, about
// 20 for a division of integers. A division or square root of f64 has 8 operations of f64 (and a
// reciprocal 5, but that is not told apart), as ptxas 13.0 makes them for sm_87 and sm_90 unless
// numbers are tiny or huge. Load-store units, atomics, barriers and tensor cores are priced
// elsewhere; an instruction of the latter takes its share of a scheduler.
constexpr PerClass<double> kTuring = {0.5, 1, 0.5, 10, 0.5, 16, 2, 2, 0, 0, 0, 1, 0, 0.5, 128};
constexpr PerClass<double> kAmpere80 = {0.5, 1, 0.5, 10, 0.5, 1, 2, 2, 0, 0, 0, 1, 0, 0.5, 8};
constexpr PerClass<double> kAmpere86 = {0.5, 1, 0.5, 10, 0.25, 16, 2, 2, 0, 0, 0, 1, 0, 0.5, 128};
constexpr PerClass<double> kHopper = {0.5, 1, 0.5, 10, 0.25, 0.5, 2, 0.5, 0, 0, 0, 1, 0, 0.5, 4};
constexpr const PerClass<double>& kAda = kAmpere86;      // as the Guide has it for 8.9
constexpr const PerClass<double>& kBlackwell = kHopper;  // and for 10.0, in what a kernel here has

// Rates of tensor cores by TensorType: f16, tf32, f8, s8, s4, f64. They follow the peak rates of
// the data sheets. Without cores for f64 the ordinary units multiply, and types that an
// architecture lacks are as fast as the next larger type.
constexpr PerTensorType<double> kTuringTensor = {512, 256, 512, 1024, 2048, 2};
constexpr PerTensorType<double> kAmpere80Tensor = {1024, 512, 1024, 2048, 4096, 64};
constexpr PerTensorType<double> kAmpere86Tensor = {512, 256, 512, 1024, 2048, 2};
constexpr PerTensorType<double> kAdaTensor = {512, 256, 1024, 1024, 2048, 2};
// A GeForce accumulates in f32 at half the rate, as most kernels do; tf32 is a quarter.
constexpr PerTensorType<double> kGeForceAdaTensor = {256, 128, 512, 1024, 2048, 2};
constexpr PerTensorType<double> kHopperTensor = {2048, 1024, 4096, 4096, 4096, 128};
constexpr PerTensorType<double> kBlackwellTensor = {4096, 2048, 8192, 8192, 8192, 64};

// Only the H200's constants were fitted to measured times. Latencies, L2 widths, atomic intervals and
// start times that are not called fitted are estimates.
constexpr GpuDescription kTable[] = {
    {
        .name = "H200 SXM",
        .arch = "sm_90",
        .sms = 132,  // NVIDIA H100 Tensor Core GPU Architecture white paper (the H200 has the same
                     // GPU)
        .clock_ghz = 1.98,      // the same; boost clock of the SXM5 board
        .dram_gb_per_s = 4800,  // NVIDIA H200 data sheet: 4.8 TB/s
        .clocks_per_warp = &kHopper,
        .products_per_clock = &kHopperTensor,
        .dram_efficiency = 0.90,     // measured: a device-to-device copy moves 4.3 TB/s
        .l2_bytes_per_clock = 5120,  // estimated
        .dram_latency = 326,         // fitted, with a cold L2: the part that nothing hides
        .l2_latency = 200,           // estimated
        .l1_latency = 56.9,          // fitted
        .shared_latency = 30,
        .model = &kCalibrated,
    },
    {
        .name = "H100 SXM",
        .arch = "sm_90",
        .sms = 132,             // NVIDIA H100 Tensor Core GPU Architecture white paper
        .clock_ghz = 1.98,      // the same; boost clock of the SXM5 board
        .dram_gb_per_s = 3350,  // NVIDIA H100 data sheet: 3.35 TB/s
        .clocks_per_warp = &kHopper,
        .products_per_clock = &kHopperTensor,
        .dram_efficiency = 0.90,  // from here on as for the H200, whose GPU is the same
        .l2_bytes_per_clock = 5120,
        .dram_latency = 326,
        .l2_latency = 200,
        .l1_latency = 56.9,
        .shared_latency = 30,
        .model = &kCalibrated,
    },
    {
        .name = "B200",
        .arch = "sm_100",
        .sms = 148,  // 75 TFLOPS of f32 (NVIDIA HGX B200 data sheet) at the boost clock
        .clock_ghz = 1.98,
        .dram_gb_per_s = 7700,  // the same: 62 TB/s for eight
        .clocks_per_warp = &kBlackwell,
        .products_per_clock = &kBlackwellTensor,
        .dram_efficiency = 0.90,  // estimated, and so what follows
        .l2_bytes_per_clock = 8192,
        .dram_latency = 400,
        .l2_latency = 220,
        .l1_latency = 56.9,
        .shared_latency = 30,
        .model = &kCalibrated,
    },
    {
        .name = "A100 SXM",
        .arch = "sm_80",
        .sms = 108,             // NVIDIA A100 Tensor Core GPU Architecture white paper
        .clock_ghz = 1.41,      // the same; boost clock
        .dram_gb_per_s = 1555,  // NVIDIA A100 data sheet, 40 GB
        .clocks_per_warp = &kAmpere80,
        .products_per_clock = &kAmpere80Tensor,
        .dram_efficiency = 0.90,  // estimated, and so what follows
        .l2_bytes_per_clock = 5120,
        .dram_latency = 600,
        .l2_latency = 220,
        .l1_latency = 35,
        .shared_latency = 29,
        .model = &kCalibrated,
    },
    {
        .name = "L4",
        .arch = "sm_89",
        .sms = 58,  // NVIDIA Ada GPU Architecture white paper, and NVIDIA L4 data sheet: 30.3
                    // TFLOPS of f32
        .clock_ghz = 2.04,     // the same; boost clock
        .dram_gb_per_s = 300,  // the data sheet
        .clocks_per_warp = &kAda,
        .products_per_clock = &kAdaTensor,
        .dram_efficiency = 0.85,  // estimated, and so what follows
        .l2_bytes_per_clock = 1856,
        .dram_latency = 500,
        .l2_latency = 220,
        .l1_latency = 33,
        .shared_latency = 25,
        .model = &kCalibrated,
    },
    {
        .name = "RTX 4090",
        .arch = "sm_89",
        .sms = 128,             // NVIDIA Ada GPU Architecture white paper
        .clock_ghz = 2.52,      // the same; boost clock
        .dram_gb_per_s = 1008,  // the same
        .clocks_per_warp = &kAda,
        .products_per_clock = &kGeForceAdaTensor,
        .dram_efficiency = 0.90,  // estimated, and so what follows
        .l2_bytes_per_clock = 4096,
        .dram_latency = 600,
        .l2_latency = 260,
        .l1_latency = 33,
        .shared_latency = 25,
        .model = &kCalibrated,
    },
    {
        .name = "T4",
        .arch = "sm_75",
        .sms = 40,             // NVIDIA Turing GPU Architecture white paper, Tesla T4
        .clock_ghz = 1.59,     // the same; boost clock
        .dram_gb_per_s = 320,  // NVIDIA T4 data sheet
        .clocks_per_warp = &kTuring,
        .products_per_clock = &kTuringTensor,
        .dram_efficiency = 0.80,  // estimated, and so what follows
        .l2_bytes_per_clock = 1280,
        .dram_latency = 500,
        .l2_latency = 190,
        .l1_latency = 32,
        .shared_latency = 25,
        .model = &kCalibrated,
    },
    {
        .name = "Jetson Orin Nano",
        .arch = "sm_87",
        .sms = 4,  // Jetson Orin Nano series data sheet, the module of 4 GB: 512 CUDA cores,
                   // which are four SMs
        .clock_ghz = 0.625,   // the same; maximum GPU frequency
        .dram_gb_per_s = 34,  // the same; 64-bit LPDDR5
        .clocks_per_warp = &kAmpere86,
        .products_per_clock = &kAmpere86Tensor,
        .dram_efficiency = 0.80,  // estimated, and so what follows
        .l2_bytes_per_clock = 256,
        .dram_latency = 350,
        .l2_latency = 180,
        .l1_latency = 33,
        .shared_latency = 25,
        .atomic_interval = 4,
        .start_ns = 1000,
        .model = &kCalibrated,
    },
};

}  // namespace

std::span<const GpuDescription> gpu_table() { return kTable; }

const GpuDescription* find_gpu(std::string_view name) {
  for (const auto& gpu : kTable) {
    if (gpu.name == name) return &gpu;
  }
  return nullptr;
}

}  // namespace krl::cpu
