// The memory shared by all blocks of a launch: the buffers of the run, the variables of the module,
// the parameters of the entry; the shadow of global memory and the counters. One object for all
// runs of a job. One thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "plugins/backends/cpu/garbage.hpp"
#include "plugins/backends/cpu/machine/critical_path.hpp"
#include "plugins/backends/cpu/machine/makespan.hpp"
#include "plugins/backends/cpu/machine/memory/address_space.hpp"
#include "plugins/backends/cpu/machine/memory/global_shadow.hpp"
#include "plugins/backends/cpu/machine/memory/old_values.hpp"
#include "plugins/backends/cpu/machine/memory/tensor_map.hpp"
#include "plugins/backends/cpu/machine/memory/written_bytes.hpp"
#include "plugins/backends/cpu/machine/program.hpp"
#include "plugins/backends/cpu/machine_protocol.hpp"

namespace krl::machine {

// Memory of one buffer or one variable; or the parameters of an entry.
struct Region {
  std::uint64_t begin = 0, end = 0;  // addresses
  std::byte* host = nullptr;         // its bytes in this process
  Cell* shadow = nullptr;            // cell of its first sector
  std::uint32_t* written = nullptr;  // see WrittenBytes; null: all bytes have values
  bool writable = true;
  std::uint32_t element_bytes = 4;
  std::string name;
};

// When a word was last written that others may wait for.
struct WriteTime {
  double clocks = 0;         // since the launch began
  double idle = 0;           // … for which its block was idle
  std::uint32_t serial = 0;  // serial of the block
};

class LaunchMemory {
 public:
  // `arena`: what buffers are in. Both outlive this.
  LaunchMemory(const std::vector<GlobalVariable>& variables, std::span<std::byte> arena);

  // Places the buffers of a run, each far from the next; variables get their initial values. The
  // buffers are in the arena, at multiples of 256 bytes. In lockstep, reads may find what strong
  // writes have replaced. Throws std::bad_alloc.
  void begin_run(const cpu::Run& run);
  // Returns the value of the pointer argument for a buffer of the run.
  std::uint64_t address_of(std::uint32_t buffer) const { return regions_[buffer].begin; }

  // `parameters`: of the entry, laid out as its entry_parameters say. `shared_bytes`: static and
  // dynamic, of each block. Counters begin at 0; what came before is ordered before the launch.
  void begin_launch(Program& program, const cpu::Dim3& block, std::vector<std::byte> parameters,
                    std::uint32_t shared_bytes, std::vector<TensorMap> tensor_maps = {});
  // Records the times of strong writes, as sums of `each`, until the next launch. `each` must
  // outlive the launch.
  void keep_time(const cpu::PathClocks& each) { path_clocks_ = &each; }
  // The same: so many blocks, at least one, are resident at once, and none waits for another.
  void schedule_blocks(const cpu::PathClocks& each, std::uint32_t resident) {
    block_clocks_ = &each;
    makespan_.begin(resident);
  }
  // The counters of memory: requests, sectors, levels, wavefronts, conflicts, atomics, and the
  // critical path. All others are 0.
  cpu::Counters end_launch() const;

  // Returns the unwritten elements of a buffer of the run.
  UnwrittenElements unwritten(std::uint32_t buffer) const;
  // The first in different lines since the run began, without their run.
  const std::vector<cpu::Encounter>& encounters() const { return encounters_; }

  // ---- for the memory of blocks, and operations ----
  std::uint32_t held_line() const { return held_line_; }         // see cpu::Run
  bool redundant_threads() const { return redundant_threads_; }  // likewise
  const Program& program() const { return *program_; }
  std::span<const std::byte> parameters() const { return parameters_; }
  // The tensor map that is the parameter at an offset; null if there is none.
  const TensorMap* tensor_map_at(std::uint64_t parameter) const;
  std::uint32_t shared_bytes() const { return shared_bytes_; }
  GlobalShadow& shadow() { return shadow_; }
  OldValues& old_values() { return old_values_; }
  cpu::Garbage& garbage() { return garbage_; }
  // The region that has all bytes [from, to); null if there is none.
  Region* find(std::uint64_t from, std::uint64_t to);
  // The region nearest to an address, if that is near enough to be meant for it.
  const Region* nearest(std::uint64_t address) const;
  // Returns the place of a thread by its number in the block: "(32, 0, 0)".
  std::string thread_name(std::uint32_t thread) const;
  void count_atomics(std::uint64_t address, std::uint32_t operations) {
    std::uint64_t& count = atomics_[address];
    count += operations;
    if (count > hottest_atomic_) hottest_atomic_ = count;
  }
  // Records the path of a block that has ended: the maximum of each part is kept.
  void add_path(const cpu::CriticalPath& path) {
    raise(&critical_, path);
    if (block_clocks_ != nullptr) makespan_.add(clocks_of(path, *block_clocks_));
  }
  // Null: no times are kept.
  const cpu::PathClocks* path_clocks() const { return path_clocks_; }
  // Keyed by the word's address in this process.
  std::unordered_map<const std::byte*, WriteTime>& write_times() { return write_times_; }
  // The launch has not ended before then.
  void extend_span(double clocks) { span_ = std::max(span_, clocks); }
  // True if no encounter in this line has been recorded.
  bool is_new_encounter(std::uint32_t line) const;
  // See cpu::Unset.
  void note_unset(std::uint32_t line, const char* what);
  const std::vector<cpu::Unset>& unset() const { return unset_; }  // kept as encounters() are
  // Keeps what a launch of the run prints, up to a limit.
  void print(std::string_view text);
  const std::string& printed() const { return printed_; }
  void add_encounter(cpu::Encounter encounter) { encounters_.push_back(std::move(encounter)); }

 private:
  const std::vector<GlobalVariable>& variables_;
  std::span<std::byte> arena_;
  std::vector<Region> regions_;  // buffers in their order, variables, parameters
  std::vector<std::byte> variable_bytes_;
  GlobalShadow shadow_;
  WrittenBytes written_;
  OldValues old_values_;
  cpu::Garbage garbage_{0};
  Program* program_ = nullptr;
  cpu::Dim3 block_{};
  std::vector<std::byte> parameters_;
  std::vector<TensorMap> tensor_maps_;
  std::uint32_t shared_bytes_ = 0;
  std::unordered_map<std::uint64_t, std::uint64_t> atomics_;  // operations on each address
  std::uint64_t hottest_atomic_ = 0;
  cpu::CriticalPath critical_;
  const cpu::PathClocks* path_clocks_ = nullptr;
  const cpu::PathClocks* block_clocks_ = nullptr;  // set in launches whose blocks are scheduled
  Makespan makespan_;
  std::unordered_map<const std::byte*, WriteTime> write_times_;
  double span_ = 0;
  std::uint32_t held_line_ = 0;
  bool redundant_threads_ = false;
  std::vector<cpu::Encounter> encounters_;
  std::vector<cpu::Unset> unset_;
  std::string printed_;
};

}  // namespace krl::machine
