// Faults of invalid memory accesses, with their messages.
#pragma once

#include <cstdint>
#include <string>

#include "plugins/backends/cpu/machine/fault.hpp"
#include "plugins/backends/cpu/machine/memory/launch_memory.hpp"
#include "plugins/backends/cpu/machine/memory/order.hpp"
#include "plugins/backends/cpu/machine/memory/request.hpp"

namespace krl::machine {

// The lane and the request that caused a fault.
struct Culprit {
  const LaunchMemory& launch;
  const Request& request;
  unsigned lane;
  std::uint64_t address;   // generic, or an offset in shared or local memory
  std::int32_t rank = -1;  // the block of the cluster whose shared memory it is; -1: the own
};

// Names the memory that an access touches: "y[3]", "shared tile[7]".
std::string place_of(const Culprit& culprit, bool shared);

// An access to global memory that is not inside of one buffer.
[[noreturn]] void throw_outside_buffers(const Culprit& culprit);
[[noreturn]] void throw_not_writable(const Culprit& culprit, const Region& region);
[[noreturn]] void throw_misaligned(const Culprit& culprit);
[[noreturn]] void throw_outside_shared(const Culprit& culprit);
// Accesses to the shared memory of other blocks of a cluster, which has so many blocks.
[[noreturn]] void throw_no_such_block(const Culprit& culprit, std::uint32_t blocks);
[[noreturn]] void throw_not_own_block(const Culprit& culprit);
[[noreturn]] void throw_block_has_ended(const Culprit& culprit);
// A thread of the block of that rank has accessed shared memory of a block that ends.
[[noreturn]] void throw_ends_too_early(const LaunchMemory& launch, std::uint32_t rank,
                                       std::uint32_t thread, std::uint32_t line, bool write);
// `bytes`: the present size of the thread's local memory.
[[noreturn]] void throw_outside_local(const Culprit& culprit, std::uint32_t bytes);
[[noreturn]] void throw_race(const Culprit& culprit, bool shared, const Conflict& conflict);
[[noreturn]] void throw_copy_under_way(const Culprit& culprit, const Conflict& conflict);
// Reports a bulk copy that nobody has waited for when its block ends.
[[noreturn]] void throw_copy_outlives(const Culprit& culprit);
// Reports an access of the asynchronous proxy to what a thread of the block stored.
[[noreturn]] void throw_unfenced(const Culprit& culprit, Who store);
// Reports a read of unset memory in global, shared or local memory.
[[noreturn]] void throw_uninitialised(const Culprit& culprit, ptx::Space space);
[[noreturn]] void throw_stack_overflow(std::uint32_t line);

}  // namespace krl::machine
