// A GPU as one of its two processes uses it: an arena for a candidate's buffers, the module that is
// loaded, runs and timed samples of it. What a call of CUDA's refuses is thrown as CudaError, or as
// RefusedLaunch where nothing ran. Used by one thread.
#pragma once

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

// Enqueues it.
void poison(CUdeviceptr memory, std::uint64_t bytes);

class DeviceSession {
 public:
  explicit DeviceSession(const Setup& setup);

  CUcontext context() const { return context_; }
  CUdeviceptr arena() const { return arena_.get(); }
  std::string arena_handle() const;
  CUfunction trusted(const char* name) const;
  // Draws inputs into the memory at `base`, all with the same seed and factor.
  void fill(CUdeviceptr base, const std::vector<Fill>& inputs, std::uint64_t seed, double factor);

  void load(const Load& load);
  void run(const Run& run);
  // A run in two halves, neither waited for: poisons and fills the first set; launches the program
  // on it.
  void stage(const Run& run);
  void start(const Program& program) { launch(program, arena_.get(), loaded_); }
  std::vector<std::vector<double>> time(const Time& time);
  // Nanoseconds of what `call` enqueues on the default stream, with a cold L2.
  double time_call(const std::function<void()>& call);
  Transfer transfer(const Transfer& bytes);

 private:
  struct Module {
    DeviceModule module;
    std::vector<CUfunction> kernels;
  };
  // What is timed in a batch, with its code and what its sets are filled with.
  struct Queued {
    const Samples& samples;
    const Module& module;
    CUdeviceptr fills;
  };
  struct Sample {
    DeviceEvent start, end;
    double ns() const;
  };

  void require_space(std::uint64_t bytes) const;
  void draw(CUdeviceptr base, CUdeviceptr fills, const std::vector<Fill>& inputs, std::size_t sets);
  std::vector<Queued> upload(const Time& time);
  void enqueue_all(const Time& time, const std::vector<Queued>& programs);
  void enqueue(const Queued& program, std::size_t sample, std::uint64_t poisoned_bytes,
               const Sample& timed);
  std::uint64_t transfer_ns(std::uint64_t bytes, const std::function<void(std::uint64_t)>& copy);
  void keep_set(const Samples& samples, std::size_t sample, std::int64_t kept);
  void launch(const Program& program, CUdeviceptr set, const Module& module);
  void flush_l2();
  void record_gap();
  // After a record_gap() and the end of it: the time of two events with nothing between them, which
  // every sample is less. The median of the last ones, as it changes with the clocks.
  double update_gap();

  CUcontext context_ = nullptr;
  DeviceModule trusted_;
  Module loaded_, beside_;
  CUfunction fill_ = nullptr;
  std::optional<Gate> gate_;
  std::optional<HostLibrary> library_;  // instead of a module
  std::uint64_t arena_bytes_;
  DeviceMemory arena_;
  std::uint64_t flush_bytes_ = 0;
  DeviceMemory flush_;
  UploadBuffer fills_;
  std::vector<Sample> samples_;  // their events are used again and again
  Sample gap_;
  std::deque<double> gaps_ns_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, Transfer>
      transfers_;  // as page-locked memory is slow to get
};

}  // namespace krl::gpu
