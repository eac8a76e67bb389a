// Every value of an evaluation by the `cpu` backend: its name, unit and meaning, one row each. All
// are per case, of the counted run, summed over its launches.
#pragma once

#include <string_view>

#include "plugins/backends/cpu/machine_protocol.hpp"

namespace krl::cpu {

struct CounterName {
  std::string_view name, unit;
  std::uint64_t Counters::*counter;
};

// The machine's counters; machine_protocol.hpp defines what each counts. A request is one
// instruction of one warp, a sector 32 bytes.
inline constexpr CounterName kCounterNames[] = {
    {"blocks", "", &Counters::blocks},
    {"warps", "", &Counters::warps},
    {"threads", "", &Counters::threads},
    {"instructions", "", &Counters::instructions},
    {"thread_instructions", "", &Counters::thread_instructions},
    {"global_load_requests", "", &Counters::global_load_requests},
    {"global_load_sectors", "", &Counters::global_load_sectors},
    {"global_store_requests", "", &Counters::global_store_requests},
    {"global_store_sectors", "", &Counters::global_store_sectors},
    {"needed_sectors", "", &Counters::needed_sectors},
    {"l1_sectors", "", &Counters::l1_sectors},
    {"l2_sectors", "", &Counters::l2_sectors},
    {"shared_load_requests", "", &Counters::shared_load_requests},
    {"shared_store_requests", "", &Counters::shared_store_requests},
    {"shared_wavefronts", "", &Counters::shared_wavefronts},
    {"bank_conflicts", "", &Counters::bank_conflicts},
    {"global_atomics", "", &Counters::global_atomics},
    {"shared_atomics", "", &Counters::shared_atomics},
    {"atomic_passes", "", &Counters::atomic_passes},
    {"barriers", "", &Counters::barriers},
    {"shuffles", "", &Counters::shuffles},
    {"votes", "", &Counters::votes},
    {"warp_barriers", "", &Counters::warp_barriers},
    {"local_requests", "", &Counters::local_requests},
    {"local_sectors", "", &Counters::local_sectors},
};

// Instructions of warps by their class: "executed_float".
inline constexpr std::string_view kExecuted = "executed_";

// Requests of 8 or 16 bytes per lane.
inline constexpr std::string_view kVectorAccesses = "vector_accesses";
inline constexpr std::string_view kAtomics = "atomics";  // requests, global and shared
inline constexpr std::string_view kSectorsPerRequest = "sectors_per_request";  // global accesses
// needed_sectors over the sectors of global loads and stores, 0..1.
inline constexpr std::string_view kCoalescing = "coalescing";
// B: distinct sectors, read and written.
inline constexpr std::string_view kDramBytes = "dram_bytes";
// dram_bytes over the estimated time, as a share of the GPU's bandwidth, 0..1.
inline constexpr std::string_view kBandwidthFraction = "bandwidth_fraction";
// thread_instructions / (32 instructions), 0..1: 1 if no lane of a warp ever waits for others.
inline constexpr std::string_view kBranchEfficiency = "branch_efficiency";
// Share of a bound in the sum of the parts of the estimated time, 0..1: "share_dram".
inline constexpr std::string_view kShare = "share_";
inline constexpr std::string_view kSharedBytes = "shared_bytes";  // B: the most that a launch uses
inline constexpr std::string_view kLaunches = "launches";

}  // namespace krl::cpu
