#include "plugins/backends/cpu/gpu_table.hpp"

namespace krl::emulator {
namespace {

// Fitted by bench/calibrate.py on 2026-11-22 to the times of 160 kernels, two shapes each, measured
// on an NVIDIA H200 (NVRTC 13.0, commit 007d804; the measurement is
// bench/results/2026-11-21_h200_agreement.csv): least_clocks_per_sector, dependent_issue_clocks,
// unrolled_loads, shared_loads_in_flight and the two spreads. The others are estimates that these
// kernels, which are small, say nothing about.
constexpr ModelConstants kCalibrated = {
    .overlap_loss = 0.15,
    .exposed_waves = 1,
    .clocks_per_request = 1,
    .clocks_per_sector = 0,
    .least_clocks_per_sector = 0.34,  // 94 bytes a clock
    .dependent_issue_clocks = 1.5,    // fewer than the hardware's 4: x86-64 code is counted
    .unrolled_loads = 13,             // nvcc unrolls simple loops up to 16 times
    .loads_in_flight = 1,
    .shared_loads_in_flight = 18,
    .clocks_per_block = 40,
    .clocks_per_shuffle = 1,
    .block_spread_ns = 18,
    .wait_spread_ns = 28,
};

// Estimates, before anything was measured. The quickstart and its recorded figures rest on them.
constexpr ModelConstants kFirstEstimate = {
    .overlap_loss = 0.15,
    .exposed_waves = 0,
    .clocks_per_request = 1,
    .clocks_per_sector = 0.5,
    .least_clocks_per_sector = 0,
    .dependent_issue_clocks = 3,
    .unrolled_loads = 1,
    .loads_in_flight = 2,
    .shared_loads_in_flight = 4,
    .clocks_per_block = 40,
    .clocks_per_shuffle = 1,
    .block_spread_ns = 0,
    .wait_spread_ns = 0,
};

// Limits per SM and per block: CUDA C++ Programming Guide, "Technical Specifications per Compute
// Capability". What is called fitted has the source of kCalibrated; other latencies, L2 widths,
// atomic intervals and start times are estimates.
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
        .l2_bytes_per_clock = 5120,  // estimated
        .dram_latency = 567,         // fitted, with a cold L2
        .l2_latency = 200,           // estimated; few of the measured kernels depend on it
        .l1_latency = 73,            // fitted, as all that follows but shared_latency
        .shared_latency = 30,
        .shuffle_latency = 20,   // effective: instructions around it have a part of its time, …
        .barrier_latency = 8.9,  // … and around this
        .atomic_latency = 22,    // nothing waits for a result that is not used
        .atomic_interval = 1.7,
        .start_ns = 2020,  // includes the least time between two launches
        .model = &kCalibrated,
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
        .dram_efficiency = 0.90,  // estimated, and so what follows
        .l2_bytes_per_clock = 5120,
        .dram_latency = 600,
        .l2_latency = 220,
        .l1_latency = 35,
        .shared_latency = 29,
        .shuffle_latency = 20,  // from here on as fitted for the H200
        .barrier_latency = 8.9,
        .atomic_latency = 22,
        .atomic_interval = 1.7,
        .start_ns = 2020,
        .model = &kCalibrated,
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
        .dram_efficiency = 0.80,  // estimated, and so what follows
        .l2_bytes_per_clock = 1280,
        .dram_latency = 500,
        .l2_latency = 190,
        .l1_latency = 32,
        .shared_latency = 25,
        .shuffle_latency = 20,  // from here on as fitted for the H200
        .barrier_latency = 8.9,
        .atomic_latency = 22,
        .atomic_interval = 1.7,
        .start_ns = 2020,
        .model = &kCalibrated,
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
        .dram_efficiency = 0.80,   // estimated, and so all that follows
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
        .model = &kFirstEstimate,
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
