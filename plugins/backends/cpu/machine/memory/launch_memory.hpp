// The memory that all blocks of a launch share: the buffers of the run, the variables of the
// module, the parameters of the entry; the shadow of global memory and what was counted. One object
// for a job, for all its runs. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "plugins/backends/cpu/machine/memory/address_space.hpp"
#include "plugins/backends/cpu/machine/memory/global_shadow.hpp"
#include "plugins/backends/cpu/machine/program.hpp"
#include "plugins/backends/cpu/runner_protocol.hpp"

namespace krl::machine {

// Memory of one buffer or one variable.
struct Region {
  std::uint64_t begin = 0, end = 0;  // addresses
  std::byte* host = nullptr;         // where its bytes are
  Cell* shadow = nullptr;    // of its first sector
  bool writable = true;
  std::uint32_t element_bytes = 4;
  std::string name;

  bool contains(std::uint64_t from, std::uint64_t to) const { return from >= begin && to <= end; }
};

class LaunchMemory {
 public:
  // `variables` of the module; `arena`: what buffers lie in. Both outlive this.
  LaunchMemory(const std::vector<GlobalVariable>& variables, std::span<std::byte> arena);

  // Places the buffers, each far from the next; variables get their initial values.
  void begin_run(const std::vector<emulator::Buffer>& buffers);
  // Of a buffer of the run: what its pointer argument is.
  std::uint64_t address_of(std::uint32_t buffer) const { return regions_[buffer].begin; }

  // `parameters`: of the program's entry, laid out as its entry_parameters say. `shared_bytes`:
  // static and dynamic, of each block. The counters of the program's accesses begin at 0; what came
  // before is ordered before the launch.
  void begin_launch(Program& program, const emulator::Dim3& block,
                    std::vector<std::byte> parameters, std::uint32_t shared_bytes);
  // The counters of memory: requests, sectors, levels, wavefronts, conflicts, atomics. All others
  // are 0.
  emulator::Counters end_launch();

  // In this run, a plain store of one block met a plain access of another block to the same memory:
  // ordered, or of the same value, or it would have been a fault. The line of one such access; 0:
  // unknown.
  std::optional<std::uint32_t> blocks_met() const { return blocks_met_; }

  // ---- for the memory of blocks, and operations ----
  const Function& entry() const { return *program_->entry; }
  std::span<const std::byte> parameters() const { return parameters_; }
  std::uint32_t shared_bytes() const { return shared_bytes_; }
  GlobalShadow& shadow() { return shadow_; }
  // The region that has all bytes [from, to); null if there is none.
  Region* find(std::uint64_t from, std::uint64_t to);
  // The region nearest to an address, if it is near enough for the address to be meant for it.
  const Region* nearest(std::uint64_t address) const;
  // "(32, 0, 0)"
  std::string thread_name(std::uint32_t thread) const;
  void count_atomic(std::uint64_t address, std::uint32_t operations) {
    std::uint64_t& count = atomics_[address];
    count += operations;
    if (count > hottest_atomic_) hottest_atomic_ = count;
  }
  void note_blocks_met(std::uint32_t line) {
    if (!blocks_met_) blocks_met_ = line;
  }

 private:
  const std::vector<GlobalVariable>& module_variables_;
  Program* program_ = nullptr;  // of the present launch
  std::span<std::byte> arena_;
  std::vector<Region> regions_;  // buffers in their order, then variables
  std::vector<std::byte> variables_;
  std::size_t buffers_ = 0;
  GlobalShadow shadow_;
  emulator::Dim3 block_{};
  std::vector<std::byte> parameters_;
  std::uint32_t shared_bytes_ = 0;
  std::unordered_map<std::uint64_t, std::uint64_t> atomics_;
  std::uint64_t hottest_atomic_ = 0;
  std::optional<std::uint32_t> blocks_met_;
};

}  // namespace krl::machine
