#include "plugins/backends/cpu/emulator/scheduler.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>

#include "plugins/backends/cpu/emulator/warp_operation.hpp"

namespace krl::emulator {

namespace context = boost::context::detail;

Scheduler* Scheduler::active_ = nullptr;

namespace {

// A mixing function (the finaliser of SplitMix64): equal inputs, equal outputs; nearby inputs,
// unrelated ones.
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

std::uint32_t lanes_of_warp(std::uint32_t warp, std::uint32_t threads) {
  const std::uint32_t count = std::min(32u, threads - warp * 32);
  return count == 32 ? ~0u : (1u << count) - 1;
}

}  // namespace

bool Scheduler::begin_launch(std::uint32_t threads, void (*invoke)(), Order order,
                             std::uint64_t seed) {
  active_ = this;
  threads_ = threads;
  invoke_ = invoke;
  order_ = order;
  seed_ = seed;
  warps_.resize((threads + 31) / 32);
  fiber_of_.resize(std::max<std::size_t>(fiber_of_.size(), threads));
  return stacks_.allocate(RaceDetector::kMaxThreads);
}

void Scheduler::run_block(std::uint64_t salt) {
  const std::uint64_t random = order_ == Order::kShuffled ? mixed(seed_ ^ mixed(salt)) : 0;
  warp_rotation_ = static_cast<std::uint32_t>(random) % warp_count();
  lane_rotation_ = static_cast<std::uint32_t>(random >> 32) % 32;
  live_ = threads_;
  waiting_at_barrier_ = 0;
  for (std::uint32_t w = 0; w < warp_count(); ++w) {
    Warp& warp = warps_[w];
    warp.existing = warp.ready = warp.fresh = lanes_of_warp(w, threads_);
    warp.exited = warp.at_operation = warp.at_barrier = warp.at_activemask = 0;
  }
  while (live_ > 0) {
    for (std::uint32_t n = 0; n < warp_count(); ++n) run_warp(nth_warp(n));
    if (live_ > 0) release_barrier();
  }
  for (std::uint32_t w = 0; w < warp_count(); ++w) machine_.merge_warp(w, threads_);
}

std::uint32_t Scheduler::nth_warp(std::uint32_t n) const {
  const std::uint32_t turned = (n + warp_rotation_) % warp_count();
  return order_ == Order::kReversed ? warp_count() - 1 - turned : turned;
}

// The lane of a set whose turn it is.
std::uint32_t Scheduler::pick(std::uint32_t lanes) const {
  if (order_ == Order::kReversed) return 31 - static_cast<std::uint32_t>(std::countl_zero(lanes));
  const auto turned = std::rotr(lanes, static_cast<int>(lane_rotation_));
  return (static_cast<std::uint32_t>(std::countr_zero(turned)) + lane_rotation_) % 32;
}

// ---- fibers ------------------------------------------------------------------------------------

// What lies above this frame is the scheduler's: the kernel's frames, and what it may touch of the
// stack, begin below.
[[gnu::noinline]] void Scheduler::call_kernel() {
  Fiber& fiber = fibers_[running_];
  fiber.stack_top = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  machine_.set_stack(stacks_.bottom(running_), fiber.stack_top);
  invoke_();
  machine_.leave_thread();
}

void Scheduler::fiber_main(context::transfer_t transfer) {
  Scheduler& self = active();
  self.caller_ = transfer.fctx;
  for (;;) {
    self.call_kernel();
    self.thread_exited();
    if (self.take_fresh_thread()) continue;
    self.idle_.push_back(self.running_);
    self.suspend();
  }
}

// Makes the next lane of the warp the present thread, if that lane has not begun.
bool Scheduler::take_fresh_thread() {
  const std::uint32_t index = machine_.thread() / 32;
  Warp& warp = warps_[index];
  if (warp.ready == 0) return false;
  const std::uint32_t lane = pick(warp.ready), bit = 1u << lane;
  if ((warp.fresh & bit) == 0) return false;
  warp.ready &= ~bit;
  warp.fresh &= ~bit;
  machine_.enter_thread(index * 32 + lane);
  return true;
}

std::uint32_t Scheduler::idle_fiber() {
  if (idle_.empty()) {
    const auto index = static_cast<std::uint32_t>(fibers_.size());
    fibers_.push_back(
        {context::make_fcontext(reinterpret_cast<void*>(stacks_.top(index)),
                                stacks_.top(index) - stacks_.bottom(index), fiber_main),
         0});
    return index;
  }
  const std::uint32_t index = idle_.back();
  idle_.pop_back();
  return index;
}

void Scheduler::suspend() { caller_ = context::jump_fcontext(caller_, nullptr).fctx; }

// The present thread has to wait; its fiber stays its own.
void Scheduler::wait() {
  fiber_of_[machine_.thread()] = running_;
  suspend();
}

void Scheduler::resume(std::uint32_t fiber, std::uint32_t thread) {
  running_ = fiber;
  machine_.enter_thread(thread);
  machine_.set_stack(stacks_.bottom(fiber), fibers_[fiber].stack_top);
  const auto back = context::jump_fcontext(fibers_[fiber].context, nullptr);
  fibers_[fiber].context = back.fctx;
}

// Until every lane of the warp has ended or waits for a barrier, or for lanes that never come.
void Scheduler::run_warp(std::uint32_t index) {
  Warp& warp = warps_[index];
  do {
    while (warp.ready != 0) {
      const std::uint32_t lane = pick(warp.ready), bit = 1u << lane, thread = index * 32 + lane;
      const bool fresh = (warp.fresh & bit) != 0;
      warp.ready &= ~bit;
      warp.fresh &= ~bit;
      resume(fresh ? idle_fiber() : fiber_of_[thread], thread);
    }
  } while (release_activemask(warp));
}

void Scheduler::thread_exited() {
  const std::uint32_t thread = machine_.thread(), index = thread / 32;
  Warp& warp = warps_[index];
  warp.exited |= 1u << thread % 32;
  --live_;
  // Lanes that wait for this one need not any more.
  if (warp.at_operation != 0) {
    const Lane& waiting = warp.lanes[static_cast<std::size_t>(std::countr_zero(warp.at_operation))];
    try_complete(index, waiting.operation, waiting.mask);
  }
}

int Scheduler::barrier(Barrier kind, int predicate, std::uintptr_t pc) {
  machine_.synchronising(Event::kBarrier, pc);
  const std::uint32_t thread = machine_.thread();
  Warp& warp = warps_[thread / 32];
  Lane& lane = warp.lanes[thread % 32];
  lane.operation = static_cast<std::uint32_t>(kind);
  lane.value = predicate != 0;
  lane.pc = pc;
  warp.at_barrier |= 1u << thread % 32;
  ++waiting_at_barrier_;
  wait();
  return static_cast<int>(lane.result);
}

void Scheduler::release_barrier() {
  if (waiting_at_barrier_ != live_) fault_deadlock();
  check_same_barrier();
  std::uint64_t count = 0;
  for (Warp& warp : warps_) {
    for (std::uint32_t left = warp.at_barrier; left != 0; left &= left - 1) {
      count += warp.lanes[static_cast<std::size_t>(std::countr_zero(left))].value;
    }
  }
  for (Warp& warp : warps_) {
    for (std::uint32_t left = warp.at_barrier; left != 0; left &= left - 1) {
      Lane& lane = warp.lanes[static_cast<std::size_t>(std::countr_zero(left))];
      switch (static_cast<Barrier>(lane.operation)) {
        case Barrier::kPlain:
          break;
        case Barrier::kCount:
          lane.result = count;
          break;
        case Barrier::kAnd:
          lane.result = count == live_;
          break;
        case Barrier::kOr:
          lane.result = count != 0;
          break;
      }
    }
    warp.ready = warp.at_barrier;
    warp.at_barrier = 0;
  }
  waiting_at_barrier_ = 0;
  machine_.races().barrier();
}

// Threads that meet must wait in the same line of the source (the compiler may have duplicated the
// call): CUDA leaves undefined what a barrier inside a condition does that the threads of the block
// decide differently.
void Scheduler::check_same_barrier() {
  std::uintptr_t first = 0;
  for (std::uint32_t w = 0; w < warp_count(); ++w) {
    for (std::uint32_t left = warps_[w].at_barrier; left != 0; left &= left - 1) {
      const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
      const std::uintptr_t pc = warps_[w].lanes[lane].pc;
      if (first == 0) first = pc;
      if (pc == first) continue;
      const std::uint32_t line = machine_.line_of(pc), other = machine_.line_of(first);
      if (line == other) continue;
      machine_.enter_thread(w * 32 + lane);
      machine_.fault(FaultKind::kDivergentBarrier,
                     "threads of the block wait at different barriers: in line " +
                         std::to_string(other) + " and in line " + std::to_string(line),
                     pc);
    }
  }
}

void Scheduler::fault_deadlock() {
  for (std::uint32_t w = 0; w < warp_count(); ++w) {
    const Warp& warp = warps_[w];
    if (warp.at_operation == 0) continue;
    const auto index = static_cast<std::uint32_t>(std::countr_zero(warp.at_operation));
    const Lane& lane = warp.lanes[index];
    char mask[16];
    std::snprintf(mask, sizeof mask, "0x%08x", lane.mask);
    machine_.enter_thread(w * 32 + index);
    machine_.fault(FaultKind::kDivergentBarrier,
                   "a warp operation waits for lanes that its mask " + std::string(mask) +
                       " names and that never come: they wait elsewhere",
                   lane.pc);
  }
  machine_.fault(FaultKind::kDivergentBarrier, "the threads of the block wait for each other", 0);
}

// ---- warp operations ---------------------------------------------------------------------------

std::uint64_t Scheduler::exchange(unsigned operation, std::uint32_t mask, std::uint64_t value,
                                  std::uint32_t source, std::uintptr_t pc) {
  machine_.synchronising(operation == KRL_SHUFFLE        ? Event::kShuffle
                         : operation == KRL_WARP_BARRIER ? Event::kWarpBarrier
                                                         : Event::kVote,
                         pc);
  const std::uint32_t thread = machine_.thread(), bit = 1u << thread % 32;
  Warp& warp = warps_[thread / 32];
  Lane& lane = warp.lanes[thread % 32];
  if ((mask & bit) == 0) {
    machine_.fault(FaultKind::kDivergentBarrier,
                   "a lane calls a warp operation whose mask does not name it", pc);
  }
  lane.operation = operation;
  lane.mask = mask;
  lane.value = value;
  lane.source = source & 31;
  lane.pc = pc;
  warp.at_operation |= bit;
  try_complete(thread / 32, operation, mask);
  if ((warp.ready & bit) != 0) {
    warp.ready &= ~bit;  // this lane was the last to come: it goes on at once
  } else {
    wait();
  }
  return lane.result;
}

void Scheduler::try_complete(std::uint32_t warp_index, std::uint32_t operation,
                             std::uint32_t mask) {
  Warp& warp = warps_[warp_index];
  const std::uint32_t members = mask & warp.existing & ~warp.exited;
  if ((warp.at_operation & members) != members) return;
  WarpOperands operands;
  operands.members = members;
  for (std::uint32_t left = members; left != 0; left &= left - 1) {
    const auto i = static_cast<std::size_t>(std::countr_zero(left));
    const Lane& lane = warp.lanes[i];
    if (lane.operation != operation || lane.mask != mask) return;
    operands.values[i] = lane.value;
    operands.sources[i] = lane.source;
  }
  const auto results = warp_operation(operation, operands);
  for (std::uint32_t left = members; left != 0; left &= left - 1) {
    const auto i = static_cast<std::size_t>(std::countr_zero(left));
    warp.lanes[i].result = results[i];
  }
  warp.at_operation &= ~members;
  warp.ready |= members;
  machine_.races().warp_met(warp_index);
}

// As converged as can be: the lanes that have come to the same place when no lane of the warp can
// go on.
std::uint32_t Scheduler::activemask(std::uintptr_t pc) {
  machine_.synchronising(Event::kVote, pc);
  const std::uint32_t thread = machine_.thread();
  Warp& warp = warps_[thread / 32];
  Lane& lane = warp.lanes[thread % 32];
  lane.pc = pc;
  warp.at_activemask |= 1u << thread % 32;
  wait();
  return static_cast<std::uint32_t>(lane.result);
}

bool Scheduler::release_activemask(Warp& warp) {
  if (warp.at_activemask == 0) return false;
  const auto pc_of = [&warp](std::uint32_t lanes) {
    return warp.lanes[static_cast<std::size_t>(std::countr_zero(lanes))].pc;
  };
  std::uintptr_t lowest = ~std::uintptr_t{0};
  for (std::uint32_t left = warp.at_activemask; left != 0; left &= left - 1)
    lowest = std::min(lowest, pc_of(left));
  std::uint32_t together = 0;
  for (std::uint32_t left = warp.at_activemask; left != 0; left &= left - 1) {
    const bool same =
        pc_of(left) == lowest || machine_.line_of(pc_of(left)) == machine_.line_of(lowest);
    if (same) together |= left & -left;
  }
  for (std::uint32_t left = together; left != 0; left &= left - 1) {
    warp.lanes[static_cast<std::size_t>(std::countr_zero(left))].result = together;
  }
  warp.at_activemask &= ~together;
  warp.ready |= together;
  return true;
}

}  // namespace krl::emulator
