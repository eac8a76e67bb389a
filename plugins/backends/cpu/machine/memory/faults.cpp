#include "plugins/backends/cpu/machine/memory/faults.hpp"

#include <algorithm>

namespace krl::machine {
namespace {

[[noreturn]] void fail(FaultKind kind, const Culprit& culprit, std::string message) {
  throw Fault{kind, std::move(message), culprit.request.line, static_cast<int>(culprit.lane)};
}

std::string action(const Request& request) {
  return std::string(request.atomic  ? "atomic operation on "
                     : request.write ? "store of "
                                     : "load of ") +
         std::to_string(request.bytes) + " bytes ";
}

std::string element(const Region& region, std::int64_t from_begin) {
  const std::int64_t bytes = std::max(1u, region.element_bytes);
  const std::int64_t index =
      from_begin >= 0 ? from_begin / bytes : -((-from_begin + bytes - 1) / bytes);
  return region.name + "[" + std::to_string(index) + "]";
}

// Returns the source name of a function's variable, which follows the last length in its mangled
// name: "_ZZ1kPfiE4tile" is tile.
std::string source_name(const std::string& name) {
  if (name.rfind("_ZZ", 0) != 0) return name;
  for (std::size_t at = name.rfind('E'); at != std::string::npos && at > 0;
       at = name.rfind('E', at - 1)) {
    const std::size_t digits = name.find_first_not_of("0123456789", at + 1);
    if (digits == std::string::npos || digits == at + 1) continue;
    const std::size_t length = std::stoul(name.substr(at + 1, digits - at - 1));
    if (digits + length <= name.size()) return name.substr(digits, length);
  }
  return name;
}

// Names the block whose shared memory it is, if it is not the thread's own.
std::string owner_of(const Culprit& culprit) {
  return culprit.rank < 0 ? "" : " of block " + std::to_string(culprit.rank) + " of the cluster";
}

std::string place_in_shared(const Culprit& culprit) {
  for (const SharedVariable& variable : culprit.launch.program().shared_variables) {
    if (culprit.address - variable.offset >= variable.bytes) continue;
    const std::string name = "shared " + source_name(variable.name);
    if (culprit.request.bytes >= variable.bytes) return name;
    // Arrays are declared as bytes, so the access determines the size of an element.
    const std::uint64_t index = (culprit.address - variable.offset) /
                                std::max(culprit.request.bytes, variable.element_bytes);
    return name + "[" + std::to_string(index) + "]";
  }
  const std::uint64_t dynamic = culprit.launch.program().dynamic_shared;
  return "dynamic shared memory at byte " +
         std::to_string(culprit.address - std::min(dynamic, culprit.address));
}

std::string shared_place(const Culprit& culprit) {
  return place_in_shared(culprit) + owner_of(culprit);
}

std::string global_place(const Culprit& culprit) {
  const Region* region = culprit.launch.nearest(culprit.address);
  if (region == nullptr) return "global memory";
  return element(*region, static_cast<std::int64_t>(culprit.address - region->begin));
}

}  // namespace

std::string place_of(const Culprit& culprit, bool shared) {
  return shared ? shared_place(culprit) : global_place(culprit);
}

void throw_outside_buffers(const Culprit& culprit) {
  if (culprit.address < 4096) {
    fail(FaultKind::kIllegalAddress, culprit, action(culprit.request) + "through a null pointer");
  }
  const Region* region = culprit.launch.nearest(culprit.address);
  if (region == nullptr) {
    fail(FaultKind::kIllegalAddress, culprit,
         action(culprit.request) + "at an address that belongs to no buffer of the launch");
  }
  const bool inside = culprit.address >= region->begin && culprit.address < region->end;
  const std::uint64_t elements =
      (region->end - region->begin) / std::max(1u, region->element_bytes);
  fail(FaultKind::kIllegalAddress, culprit,
       element(*region, static_cast<std::int64_t>(culprit.address - region->begin)) +
           (inside ? " reaches" : " is") + " out of bounds: " + region->name + " has " +
           std::to_string(elements) + " elements");
}

void throw_not_writable(const Culprit& culprit, const Region& region) {
  fail(FaultKind::kIllegalAddress, culprit,
       element(region, static_cast<std::int64_t>(culprit.address - region.begin)) +
           " is written, but " + region.name + " may only be read");
}

void throw_misaligned(const Culprit& culprit) {
  const std::uint32_t bytes = culprit.request.bytes;
  fail(FaultKind::kMisaligned, culprit,
       "an access of " + std::to_string(bytes) + " bytes at an address that is " +
           std::to_string(culprit.address % bytes) + " bytes past a multiple of " +
           std::to_string(bytes));
}

void throw_outside_shared(const Culprit& culprit) {
  fail(FaultKind::kIllegalAddress, culprit,
       action(culprit.request) + "at byte " +
           std::to_string(static_cast<std::int64_t>(culprit.address)) + " of shared memory" +
           owner_of(culprit) + ", of which the block has " +
           std::to_string(culprit.launch.shared_bytes()) + " bytes");
}

void throw_no_such_block(const Culprit& culprit, std::uint32_t blocks) {
  const bool named = culprit.rank < static_cast<std::int32_t>(kNoBlock) - 1;
  fail(FaultKind::kIllegalAddress, culprit,
       action(culprit.request) + "in shared memory of " +
           (named ? "block " + std::to_string(culprit.rank) + " of the cluster"
                  : std::string("a block that is not in the cluster")) +
           ", which has " + std::to_string(blocks) + (blocks == 1 ? " block" : " blocks"));
}

void throw_not_own_block(const Culprit& culprit) {
  fail(FaultKind::kIllegalAddress, culprit,
       action(culprit.request) + "in shared memory" + owner_of(culprit) +
           " by an instruction for the own block's: .shared::cluster reaches it");
}

void throw_block_has_ended(const Culprit& culprit) {
  fail(FaultKind::kIllegalAddress, culprit,
       action(culprit.request) + "in shared memory" + owner_of(culprit) +
           ", which has ended; it must wait for the others before");
}

void throw_ends_too_early(const LaunchMemory& launch, std::uint32_t rank, std::uint32_t thread,
                          std::uint32_t line, bool write) {
  throw Fault{FaultKind::kDataRace,
              "the block's shared memory is " + std::string(write ? "written" : "read") +
                  " by thread " + launch.thread_name(thread) + " of block " + std::to_string(rank) +
                  " of the cluster, and nothing orders that before the end of the block",
              line, -1};
}

void throw_outside_local(const Culprit& culprit, std::uint32_t bytes) {
  fail(FaultKind::kIllegalAddress, culprit,
       action(culprit.request) + "at byte " +
           std::to_string(static_cast<std::int64_t>(culprit.address)) +
           " of the thread's local variables, which have " + std::to_string(bytes) + " bytes");
}

void throw_race(const Culprit& culprit, bool shared, const Conflict& conflict) {
  const std::uint32_t thread = culprit.request.warp * kLanes + culprit.lane;
  const std::string who = conflict.other_block ? "a thread of another block"
                          : conflict.thread == thread
                              ? "another thread"
                              : "thread " + culprit.launch.thread_name(conflict.thread);
  fail(FaultKind::kDataRace, culprit,
       place_of(culprit, shared) + " is " + (culprit.request.write ? "written" : "read") +
           " by thread " + culprit.launch.thread_name(thread) + " and " +
           (conflict.other_wrote ? "written" : "read") + " by " + who +
           (!conflict.other_block ? " without a barrier between the two"
            : culprit.request.access.read_only
                ? ", and the cache of __ldg may keep what was there before"
                : " and nothing orders the two blocks"));
}

void throw_copy_under_way(const Culprit& culprit, const Conflict& conflict) {
  const std::uint32_t thread = culprit.request.warp * kLanes + culprit.lane;
  fail(FaultKind::kDataRace, culprit,
       shared_place(culprit) + " is " + (culprit.request.write ? "written" : "read") +
           " by thread " + culprit.launch.thread_name(thread) + " while thread " +
           culprit.launch.thread_name(conflict.thread) +
           " has not waited for its asynchronous copy " +
           (conflict.other_wrote ? "there" : "from there"));
}

void throw_copy_outlives(const Culprit& culprit) {
  const std::uint32_t thread = culprit.request.warp * kLanes + culprit.lane;
  fail(FaultKind::kDataRace, culprit,
       "the block ends before anyone has waited for the asynchronous copy of thread " +
           culprit.launch.thread_name(thread) + " to or from " + shared_place(culprit));
}

void throw_unfenced(const Culprit& culprit, Who store) {
  const std::uint32_t thread = culprit.request.warp * kLanes + culprit.lane;
  const std::uint32_t writer = warp_of(store) * kLanes + lane_of(store);
  fail(FaultKind::kDataRace, culprit,
       shared_place(culprit) + " is " + (culprit.request.write ? "written" : "read") +
           " asynchronously for thread " + culprit.launch.thread_name(thread) +
           " after a store by thread " + culprit.launch.thread_name(writer) +
           " and needs fence.proxy.async between the two: by the thread that stored, before the "
           "barrier, or after it");
}

void throw_uninitialised(const Culprit& culprit, ptx::Space space) {
  const std::string is_read = culprit.request.write ? " is updated, but " : " is read, but ";
  if (space == ptx::Space::kLocal) {
    fail(FaultKind::kUninitialisedLocal, culprit,
         "byte " + std::to_string(culprit.address) + " of the thread's local variables" + is_read +
             "the thread has not written it");
  }
  if (space == ptx::Space::kShared) {
    fail(FaultKind::kUninitialisedShared, culprit,
         shared_place(culprit) + is_read +
             "no thread of the block has written it yet; is a barrier missing?");
  }
  fail(FaultKind::kUninitialisedGlobal, culprit,
       global_place(culprit) + is_read + "no launch has written it");
}

void throw_stack_overflow(std::uint32_t line) {
  throw Fault{FaultKind::kStackOverflow,
              "local variables or recursion need more than the 512 KiB of stack that a thread has",
              line, -1};
}

}  // namespace krl::machine
