// Runs the threads of one block after another: as a plain loop, or as fibers that meet at barriers
// and warp operations.
//
// The order of threads is the run's (forward, reversed, or rotated by the seed); a correct kernel
// does not depend on it. A block whose threads all wait, and not for the same barrier, is a
// divergent_barrier fault. One thread; the machine it serves must outlive it.
#pragma once

#include <array>
#include <boost/context/detail/fcontext.hpp>
#include <cstdint>
#include <vector>

#include "plugins/backends/cpu/emulator/fiber_stacks.hpp"
#include "plugins/backends/cpu/emulator/machine.hpp"

namespace krl::emulator {

class Scheduler {
 public:
  explicit Scheduler(Machine& machine) : machine_(machine) {}

  static Scheduler& active() { return *active_; }

  // Gets ready for blocks of `threads` threads (1 to 1024) that each call `invoke`. False: no
  // memory for stacks.
  bool begin_launch(std::uint32_t threads, void (*invoke)(), Order order, std::uint64_t seed);
  // Runs one block to its end. `salt` differs from block to block.
  void run_block(std::uint64_t salt);

  // ---- what a fiber waits for ----
  enum class Barrier { kPlain, kCount, kAnd, kOr };
  int barrier(Barrier kind, int predicate, std::uintptr_t pc);
  std::uint64_t exchange(unsigned operation, std::uint32_t mask, std::uint64_t value,
                         std::uint32_t source, std::uintptr_t pc);
  std::uint32_t activemask(std::uintptr_t pc);

 private:
  struct Lane {
    std::uint64_t value = 0, result = 0;
    std::uint32_t operation = 0, mask = 0, source = 0;
    std::uintptr_t pc = 0;  // where it waits
  };
  // Each lane is in at most one of the sets ready, at_operation, at_barrier, at_activemask, exited;
  // `fresh` are those of the ready ones that have not begun.
  struct Warp {
    std::uint32_t existing = 0, ready = 0, fresh = 0, exited = 0;
    std::uint32_t at_operation = 0, at_barrier = 0, at_activemask = 0;
    std::array<Lane, 32> lanes;
  };
  struct Fiber {
    boost::context::detail::fcontext_t context = nullptr;
    std::uintptr_t stack_top = 0;  // where the kernel's frames begin
  };

  static void fiber_main(boost::context::detail::transfer_t transfer);

  void run_warp(std::uint32_t warp);
  void call_kernel();
  bool take_fresh_thread();
  std::uint32_t idle_fiber();
  void resume(std::uint32_t fiber, std::uint32_t thread);
  void wait();
  void suspend();
  void release_barrier();
  void check_same_barrier();
  bool release_activemask(Warp& warp);
  void try_complete(std::uint32_t warp_index, std::uint32_t operation, std::uint32_t mask);
  void thread_exited();
  [[noreturn]] void fault_deadlock();

  std::uint32_t warp_count() const { return static_cast<std::uint32_t>(warps_.size()); }
  std::uint32_t nth_warp(std::uint32_t n) const;
  std::uint32_t pick(std::uint32_t lanes) const;

  static Scheduler* active_;

  Machine& machine_;
  std::uint32_t threads_ = 0;
  void (*invoke_)() = nullptr;
  Order order_ = Order::kForward;
  std::uint64_t seed_ = 0;
  std::uint32_t warp_rotation_ = 0, lane_rotation_ = 0;  // of this block
  FiberStacks stacks_;
  std::vector<Fiber> fibers_;                            // one per stack that was ever needed
  std::vector<std::uint32_t> idle_;                      // fibers without a thread
  std::vector<std::uint32_t> fiber_of_;                  // per thread that waits
  std::uint32_t running_ = 0;                            // the fiber that runs now
  boost::context::detail::fcontext_t caller_ = nullptr;  // who resumed it
  std::vector<Warp> warps_;
  std::uint32_t live_ = 0, waiting_at_barrier_ = 0;
};

}  // namespace krl::emulator
