#include "plugins/backends/cpu/gpu_table.hpp"

namespace krl::emulator {
namespace {

// Limits per SM and per block: CUDA C++ Programming Guide, "Technical Specifications per Compute
// Capability". Latencies, L2 width, atomic intervals and start times are estimated, to be
// calibrated.
constexpr GpuDescription kTable[] = {
    {
        .name = "H200 SXM",
        .sms = 132,  // NVIDIA H100 Tensor Core GPU Architecture white paper (the H200 has the same
                     // GPU)
        .clock_ghz = 1.98,      // the same; boost clock of the SXM5 board
        .dram_gb_per_s = 4800,  // NVIDIA H200 data sheet: 4.8 TB/s
        .warps_per_clock = 4,   // four schedulers per SM
        .max_threads_per_sm = 2048,
        .max_blocks_per_sm = 32,
        .shared_bytes_per_sm = 228 << 10,
        .max_shared_bytes_per_block = 227 << 10,
        .l1_caches_loads = true,
        .dram_efficiency = 0.90,     // measured: a device-to-device copy moves 4.3 TB/s
        .l2_bytes_per_clock = 5120,  // estimated, to be calibrated; and so all that follows
        .dram_latency = 800,
        .l2_latency = 270,
        .l1_latency = 35,
        .shared_latency = 30,
        .shuffle_latency = 25,
        .barrier_latency = 30,
        .atomic_latency = 700,
        .atomic_interval = 2,
        .start_ns = 1000,
    },
    {
        .name = "A100 SXM",
        .sms = 108,             // NVIDIA A100 Tensor Core GPU Architecture white paper
        .clock_ghz = 1.41,      // the same; boost clock
        .dram_gb_per_s = 1555,  // NVIDIA A100 data sheet, 40 GB
        .warps_per_clock = 4,
        .max_threads_per_sm = 2048,
        .max_blocks_per_sm = 32,
        .shared_bytes_per_sm = 164 << 10,
        .max_shared_bytes_per_block = 163 << 10,
        .l1_caches_loads = true,
        .dram_efficiency = 0.90,  // estimated, to be calibrated; and so all that follows
        .l2_bytes_per_clock = 5120,
        .dram_latency = 600,
        .l2_latency = 220,
        .l1_latency = 35,
        .shared_latency = 29,
        .shuffle_latency = 25,
        .barrier_latency = 30,
        .atomic_latency = 550,
        .atomic_interval = 2,
        .start_ns = 1200,
    },
    {
        .name = "T4",
        .sms = 40,             // NVIDIA Turing GPU Architecture white paper, Tesla T4
        .clock_ghz = 1.59,     // the same; boost clock
        .dram_gb_per_s = 320,  // NVIDIA T4 data sheet
        .warps_per_clock = 4,
        .max_threads_per_sm = 1024,
        .max_blocks_per_sm = 16,
        .shared_bytes_per_sm = 64 << 10,
        .max_shared_bytes_per_block = 64 << 10,
        .l1_caches_loads = true,
        .dram_efficiency = 0.80,  // estimated, to be calibrated; and so all that follows
        .l2_bytes_per_clock = 1280,
        .dram_latency = 500,
        .l2_latency = 190,
        .l1_latency = 32,
        .shared_latency = 25,
        .shuffle_latency = 22,
        .barrier_latency = 26,
        .atomic_latency = 450,
        .atomic_interval = 2,
        .start_ns = 1500,
    },
    {
        .name = "Jetson Nano",
        .sms = 1,  // Jetson Nano module data sheet: Tegra X1, 128 Maxwell cores, which are one SM
        .clock_ghz = 0.9216,    // the same; maximum GPU frequency 921.6 MHz
        .dram_gb_per_s = 25.6,  // the same; 64-bit LPDDR4
        .warps_per_clock = 4,
        .max_threads_per_sm = 2048,
        .max_blocks_per_sm = 32,
        .shared_bytes_per_sm = 64 << 10,
        .max_shared_bytes_per_block = 48 << 10,
        .l1_caches_loads = false,  // Maxwell Tuning Guide: global loads are cached in L2 only,
                                   // unless compiled otherwise
        .dram_efficiency = 0.80,   // estimated, to be calibrated; and so all that follows
        .l2_bytes_per_clock = 64,
        .dram_latency = 350,
        .l2_latency = 180,
        .l1_latency = 80,
        .shared_latency = 25,
        .shuffle_latency = 22,
        .barrier_latency = 25,
        .atomic_latency = 300,
        .atomic_interval = 4,
        .start_ns = 1000,
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

}  // namespace krl::emulator
