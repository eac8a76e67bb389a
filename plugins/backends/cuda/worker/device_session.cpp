#include "plugins/backends/cuda/worker/device_session.hpp"

#include <algorithm>

#include "plugins/backends/evaluator/check/inputs.hpp"

namespace krl::gpu {
namespace {

constexpr std::uint64_t kMallocHeap = 1 << 20;  // candidates have no use for one; CUDA's least
constexpr std::uint32_t kDefaultShared = 48 << 10;
constexpr int kGapSamples = 33;
constexpr auto kPoisonValue = static_cast<unsigned char>(kPoison);

int attribute(CUdevice_attribute which, CUdevice device) {
  int value = 0;
  KRL_CUDA(cuDeviceGetAttribute, &value, which, device);
  return value;
}

DeviceEvent event() {
  CUevent created = nullptr;
  KRL_CUDA(cuEventCreate, &created, CU_EVENT_DEFAULT);
  return DeviceEvent(created);
}

double elapsed_ns(const DeviceEvent& start, const DeviceEvent& end) {
  float milliseconds = 0;
  KRL_CUDA(cuEventElapsedTime, &milliseconds, start.get(), end.get());
  return static_cast<double>(milliseconds) * 1e6;
}

std::vector<DeviceFill> with_seed(const std::vector<Fill>& inputs, std::uint64_t base,
                                  std::uint64_t seed, double factor) {
  std::vector<DeviceFill> fills;
  for (const Fill& input : inputs) {
    fills.push_back({base + input.offset, input.elements, input.row, mix_seed(seed, input.name),
                     input.low, input.high, factor, input.dtype, input.values});
  }
  return fills;
}

}  // namespace

DeviceSession::DeviceSession(const Setup& setup) : arena_bytes_(setup.arena_bytes) {
  CUdevice device = 0;
  KRL_CUDA(cuDeviceGet, &device, setup.device);
  KRL_CUDA(cuDevicePrimaryCtxRetain, &context_, device);
  KRL_CUDA(cuCtxSetCurrent, context_);
  KRL_CUDA(cuCtxSetLimit, CU_LIMIT_MALLOC_HEAP_SIZE, kMallocHeap);
  CUmodule trusted = nullptr;
  KRL_CUDA(cuModuleLoadData, &trusted, setup.trusted_code.data());
  trusted_ = DeviceModule(trusted);
  fill_ = this->trusted("krl_fill");
  arena_ = allocate(arena_bytes_);
  flush_bytes_ =
      2 * static_cast<std::uint64_t>(attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, device));
  flush_ = allocate(std::max<std::uint64_t>(flush_bytes_, 1));
  event_gap_ns_ = measured_event_gap_ns();
}

std::string DeviceSession::arena_handle() const {
  CUipcMemHandle handle;
  KRL_CUDA(cuIpcGetMemHandle, &handle, arena_.get());
  return {handle.reserved, sizeof handle.reserved};
}

CUfunction DeviceSession::trusted(const char* name) const {
  CUfunction function = nullptr;
  KRL_CUDA(cuModuleGetFunction, &function, trusted_.get(), name);
  return function;
}

void DeviceSession::load(const Load& load) {
  kernels_.clear();
  module_ = {};
  CUmodule module = nullptr;
  KRL_CUDA(cuModuleLoadData, &module, load.cubin.data());
  module_ = DeviceModule(module);
  for (const std::string& name : load.kernels) {
    KRL_CUDA(cuModuleGetFunction, &kernels_.emplace_back(), module, name.c_str());
  }
}

void DeviceSession::require_space(std::uint64_t bytes) const {
  if (bytes > arena_bytes_) throw CudaError(CUDA_ERROR_OUT_OF_MEMORY, "the arena");
}

void DeviceSession::upload(const std::vector<DeviceFill>& fills) {
  const std::uint64_t bytes = fills.size() * sizeof(DeviceFill);
  if (bytes > fills_bytes_) {
    fills_ = {};
    fills_ = allocate(bytes);
    fills_bytes_ = bytes;
  }
  if (bytes > 0) KRL_CUDA(cuMemcpyHtoD, fills_.get(), fills.data(), bytes);
}

// `count` of the fills that were uploaded, from `first`.
void DeviceSession::draw(CUdeviceptr base, std::size_t first, std::size_t count) {
  if (count == 0) return;
  CUdeviceptr fills = fills_.get() + first * sizeof(DeviceFill);
  void* arguments[] = {&base, &fills};
  KRL_CUDA(cuLaunchKernel, fill_, kTrustedBlocks, static_cast<unsigned>(count), 1, kTrustedThreads,
           1, 1, 0, nullptr, arguments, nullptr);
}

void DeviceSession::fill(CUdeviceptr base, const std::vector<Fill>& inputs, std::uint64_t seed,
                         double factor) {
  upload(with_seed(inputs, 0, seed, factor));
  draw(base, 0, inputs.size());
}

void DeviceSession::launch(const Launch& launch, CUdeviceptr set) {
  std::vector<std::uint64_t> values;
  std::vector<void*> arguments;
  for (const Argument& argument : launch.arguments) {
    values.push_back(argument.address ? set + argument.value : argument.value);
  }
  for (std::uint64_t& value : values) arguments.push_back(&value);
  const CUfunction kernel = kernels_.at(launch.kernel);
  if (launch.shared_bytes > kDefaultShared) {
    KRL_CUDA(cuFuncSetAttribute, kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
             static_cast<int>(launch.shared_bytes));
  }
  KRL_CUDA(cuLaunchKernel, kernel, launch.grid[0], launch.grid[1], launch.grid[2], launch.block[0],
           launch.block[1], launch.block[2], launch.shared_bytes, nullptr, arguments.data(),
           nullptr);
}

void DeviceSession::launch(const Program& program, CUdeviceptr set) {
  for (std::uint32_t i = 0; i < program.launches.size(); ++i) {
    try {
      launch(program.launches[i], set);
    } catch (const CudaError& error) {
      throw RefusedLaunch(error, i);
    }
  }
}

void DeviceSession::run(const Run& run) {
  require_space(run.program.bytes);
  upload(with_seed(run.program.inputs, 0, run.seed, run.factor));
  KRL_CUDA(cuMemsetD8Async, arena_.get(), kPoisonValue, run.program.bytes, nullptr);
  draw(arena_.get(), 0, run.program.inputs.size());
  launch(run.program, arena_.get());
  KRL_CUDA(cuCtxSynchronize);
}

void DeviceSession::flush_l2() {
  KRL_CUDA(cuCtxResetPersistingL2Cache);
  KRL_CUDA(cuMemsetD8Async, flush_.get(), 0, flush_bytes_, nullptr);
}

std::vector<double> DeviceSession::time(const Time& time) {
  const std::uint64_t set_bytes = time.program.bytes, sample_bytes = time.sets * set_bytes;
  require_space(sample_bytes + (time.keep >= 0 ? set_bytes : 0));
  std::vector<DeviceFill> fills;
  for (std::size_t s = 0; s < time.seeds.size(); ++s) {
    const auto of_set = with_seed(time.program.inputs, s % time.sets * set_bytes, time.seeds[s], 1);
    fills.insert(fills.end(), of_set.begin(), of_set.end());
  }
  upload(fills);
  const std::size_t samples = time.seeds.size() / time.sets;
  const std::size_t fills_a_sample = time.sets * time.program.inputs.size();
  std::vector<Sample> timed(samples);
  for (std::size_t s = 0; s < samples; ++s) {
    timed[s] = {event(), event()};
    KRL_CUDA(cuMemsetD8Async, arena_.get(), kPoisonValue, sample_bytes, nullptr);
    draw(arena_.get(), s * fills_a_sample, fills_a_sample);
    flush_l2();
    KRL_CUDA(cuEventRecord, timed[s].start.get(), nullptr);
    for (std::uint32_t set = 0; set < time.sets; ++set) {
      launch(time.program, arena_.get() + set * set_bytes);
    }
    KRL_CUDA(cuEventRecord, timed[s].end.get(), nullptr);
    keep_set(time, s);
  }
  KRL_CUDA(cuCtxSynchronize);
  std::vector<double> ns;
  for (const Sample& sample : timed) {
    const double busy = elapsed_ns(sample.start, sample.end) - event_gap_ns_;
    ns.push_back(std::max(busy, 0.0) / time.sets);
  }
  return ns;
}

// Copies the set that is to be kept out of the way of the samples that follow.
void DeviceSession::keep_set(const Time& time, std::size_t sample) {
  if (time.keep < 0 || static_cast<std::size_t>(time.keep) / time.sets != sample) return;
  const std::uint64_t set = static_cast<std::uint64_t>(time.keep) % time.sets;
  KRL_CUDA(cuMemcpyDtoDAsync, arena_.get() + time.sets * time.program.bytes,
           arena_.get() + set * time.program.bytes, time.program.bytes, nullptr);
}

double DeviceSession::measured_event_gap_ns() {
  std::vector<Sample> samples(kGapSamples);
  for (Sample& sample : samples) {
    sample = {event(), event()};
    flush_l2();
    KRL_CUDA(cuEventRecord, sample.start.get(), nullptr);
    KRL_CUDA(cuEventRecord, sample.end.get(), nullptr);
  }
  KRL_CUDA(cuCtxSynchronize);
  std::vector<double> gaps;
  for (const Sample& sample : samples) gaps.push_back(elapsed_ns(sample.start, sample.end));
  std::nth_element(gaps.begin(), gaps.begin() + kGapSamples / 2, gaps.end());
  return gaps[kGapSamples / 2];
}

}  // namespace krl::gpu
