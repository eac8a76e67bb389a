// A GPU as used by one of its two processes: an arena for a candidate's buffers, with guards
// everywhere else; the loaded module; its runs and timed samples. Errors of CUDA calls are thrown
// as CudaError, or as RefusedLaunch where nothing ran. Used by one thread.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "plugins/backends/cuda/worker/device_types.hpp"
#include "plugins/backends/cuda/worker/driver.hpp"
#include "plugins/backends/cuda/worker/gate.hpp"
#include "plugins/backends/cuda/worker/host_library.hpp"
#include "plugins/backends/cuda/worker/leftovers.hpp"
#include "plugins/backends/cuda/worker/protocol.hpp"
#include "plugins/backends/cuda/worker/upload_buffer.hpp"

namespace krl::gpu {

struct RefusedLaunch : CudaError {
  RefusedLaunch(const CudaError& error, std::uint32_t refused)
      : CudaError(error), launch(refused) {}
  std::uint32_t launch;
};

// Launches a trusted kernel over `rows` rows of blocks, as many as the longest row's elements keep
// busy.
void launch_trusted(CUfunction kernel, std::size_t rows, std::uint64_t elements, void** arguments);

// Enqueues filling memory with a poison of one byte, by its number.
void poison(CUdeviceptr memory, std::uint64_t bytes, std::uint64_t number);

class DeviceSession {
 public:
  explicit DeviceSession(const Setup& setup);

  CUcontext context() const { return context_; }
  CUdeviceptr arena() const { return arena_.get(); }
  std::uint64_t arena_bytes() const { return arena_bytes_; }
  std::string arena_handle() const;
  CUfunction trusted(const char* name) const;
  // Draws inputs into the memory at `base`.
  void fill(CUdeviceptr base, const std::vector<Fill>& inputs, const DrawnInputs& drawn);
  // Lays out whole sets in the same way, each at a separate place, and poisons their blank regions;
  // each set has the next poison.
  void lay_out(CUdeviceptr base, const Program& program, const std::vector<std::uint64_t>& places,
               const std::vector<DrawnInputs>& drawn, std::uint64_t poison);
  // Puts guards in the place of sets of `bytes` bytes in an arena, and keeps the copies that
  // they ask for. Waits for it: the arena's next user may be another process, whose work the GPU
  // orders in no way with this one's.
  void put_away(CUdeviceptr arena, const std::vector<DeviceMove>& moves, std::uint64_t bytes,
                const GuardKey& key);

  void load(const Load& load);
  void run(const Run& run);
  // A run in two halves, neither waited for: lays out the set; launches the program on it.
  void stage(const Run& run);
  void start(const Run& run) { launch(run.program, arena_.get() + run.place, loaded_); }
  // Launches the loaded code on a set anywhere; not waited for.
  void launch(const Program& program, CUdeviceptr set) { launch(program, set, loaded_); }
  std::vector<std::vector<double>> time(const Time& time);
  // Replaces calls for a module's program; see protocol.hpp.
  double time_launches(const Stage& stage);
  void call(const Calls& calls);
  void finish(const std::nullptr_t&) { library().finish(); }
  void recycle(const std::nullptr_t&) { library().recycle(); }
  void flush_l2();
  // Nanoseconds of one launch of a kernel that does nothing, among many in a row: the least of
  // several measurements, as no right kernel may be refused because one was disturbed.
  double empty_launch();
  // Nanoseconds of what `call` enqueues on the default stream, with a cold L2.
  double time_call(const std::function<void()>& call);
  // Does nothing on the GPU, and waits for it: from then on the GPU works for this process.
  void wake(const std::nullptr_t&);
  // Times trials of a loaded module's program.
  std::vector<double> time_trials(const Trials& trials);
  std::array<double, 2> time_called_trial(const CalledTrial& trial);
  // Makes trials in the same way of any work that `call` enqueues on the default stream; `prepare`
  // comes before each.
  std::vector<double> trials_of(
      const std::function<void()>& call, std::uint32_t warm_ups, std::uint32_t trials,
      const std::function<void()>& prepare = [] {});
  Transfer transfer(const Transfer& bytes);
  // Returns by what factor work that spans several of the GPU's time slices is slower than the
  // fastest time seen.
  double slowdown();

 private:
  struct Module {
    DeviceModule module;
    std::vector<CUfunction> kernels;
    Footprint footprint;
    Load code;  // it is of
  };
  // A program that is timed, with its code; on the GPU the fills of its sets and their later
  // places, first those of the launch that is not measured.
  struct Queued {
    const Timed& timed;
    const Module& module;
    CUdeviceptr fills, moves;
  };
  struct Sample {
    DeviceEvent start, end;
    double ns() const { return ns_between(start, end); }
  };

  static double ns_between(const DeviceEvent& start, const DeviceEvent& end);
  void flush_before_trial();
  static Module loaded(const Load& load);
  void require_space(std::uint64_t bytes) const;
  CUdeviceptr upload_sealed(std::vector<DeviceFill> fills);
  // `changes`: of any of the inputs.
  void draw(CUdeviceptr base, CUdeviceptr fills, const Program& program, std::size_t sets,
            bool changes);
  void require_space(const Time& time) const;
  bool is_as_new(const Load& load) const;
  void load_anew();
  std::vector<Queued> upload(const Time& time);
  // Resets the state that earlier launches left, as if this were a module's first launch.
  void overwrite_leftovers(const Program& program, const Module& module);
  void launch_unmeasured(const Time& time, const std::vector<Queued>& programs);
  void enqueue_all(const Time& time, const std::vector<Queued>& programs);
  void enqueue(const Queued& program, const Time& time, std::size_t sample, const Sample& timed);
  void put_away(const Queued& program, std::size_t first, std::size_t sets);
  std::uint64_t transfer_ns(std::uint64_t bytes, const std::function<void(std::uint64_t)>& copy);
  void launch(const Program& program, CUdeviceptr set, const Module& module);
  HostLibrary& library();
  void record_gap();
  // After a record_gap() and the end of it: the time of two events with nothing between them, which
  // every sample is less. The median of the last ones, as it changes with the clocks.
  double update_gap();

  CUcontext context_ = nullptr;
  DeviceModule trusted_;
  Module loaded_, beside_;
  CUfunction fill_ = nullptr, change_ = nullptr, put_away_ = nullptr, nothing_ = nullptr;
  std::optional<Gate> gate_;
  std::optional<Leftovers> leftovers_;
  std::uint64_t overwritten_ = 0;       // number of overwrites: the number of the next poison
  std::optional<HostLibrary> library_;  // instead of a module, or for calls that do nothing
  std::uint64_t arena_bytes_;
  DeviceMemory arena_;
  const GuardKey guards_;  // guards of the arena
  std::uint64_t flush_bytes_ = 0;
  DeviceMemory flush_, trials_flush_;
  UploadBuffer fills_, moves_;
  std::uint64_t next_seal_ = std::uint64_t{1} << 62;  // beyond the words of any arena
  std::uint32_t slice_rounds_ = 1;  // rounds of krl_multiply_add that take several time slices
  double least_slices_ns_ = 0;
  std::vector<Sample> samples_;  // their events are used again and again
  Sample gap_;
  std::deque<double> gaps_ns_;
  // Kept, because page-locked memory is slow to allocate.
  std::map<std::pair<std::uint64_t, std::uint64_t>, Transfer> transfers_;
};

}  // namespace krl::gpu
