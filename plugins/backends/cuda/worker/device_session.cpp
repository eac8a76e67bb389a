#include "plugins/backends/cuda/worker/device_session.hpp"

#include <algorithm>

#include "plugins/backends/evaluator/check/inputs.hpp"

namespace krl::gpu {
namespace {

constexpr std::uint64_t kMallocHeap = 1 << 20;  // candidates have no use for one; CUDA's least
constexpr std::uint32_t kDefaultShared = 48 << 10;
constexpr std::size_t kGaps = 33;
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

std::vector<DeviceFill> with_seed(const std::vector<Fill>& inputs, std::uint64_t base,
                                  std::uint64_t seed, double factor) {
  std::vector<DeviceFill> fills;
  for (const Fill& input : inputs) {
    fills.push_back({base + input.offset, input.elements, input.row, mix_seed(seed, input.name),
                     input.low, input.high, factor, input.dtype, input.values});
  }
  return fills;
}

void launch_one(const Launch& launch, CUdeviceptr set, CUfunction kernel) {
  std::vector<std::uint64_t> values;
  for (const Argument& argument : launch.arguments) {
    values.push_back(argument.address ? set + argument.value : argument.value);
  }
  std::vector<void*> arguments;
  for (std::uint64_t& value : values) arguments.push_back(&value);
  if (launch.shared_bytes > kDefaultShared) {
    KRL_CUDA(cuFuncSetAttribute, kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
             static_cast<int>(launch.shared_bytes));
  }
  KRL_CUDA(cuLaunchKernel, kernel, launch.grid[0], launch.grid[1], launch.grid[2], launch.block[0],
           launch.block[1], launch.block[2], launch.shared_bytes, nullptr, arguments.data(),
           nullptr);
}

}  // namespace

void launch_trusted(CUfunction kernel, std::size_t rows, std::uint64_t elements, void** arguments) {
  if (rows == 0) return;
  constexpr std::uint64_t kThreads = 256, kElementsPerThread = 4, kMostBlocks = 1024;
  const std::uint64_t blocks =
      (elements + kThreads * kElementsPerThread - 1) / (kThreads * kElementsPerThread);
  KRL_CUDA(cuLaunchKernel, kernel,
           static_cast<unsigned>(std::clamp<std::uint64_t>(blocks, 1, kMostBlocks)),
           static_cast<unsigned>(rows), 1, kThreads, 1, 1, 0, nullptr, arguments, nullptr);
}

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
  gap_ = {event(), event()};
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
  library_.reset();
  if (!load.library.empty()) {
    library_.emplace(load.library, trusted("krl_find_changes"));
    return;
  }
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

// The inputs of `sets` sets, whose fills stand together at `fills`.
void DeviceSession::draw(CUdeviceptr base, CUdeviceptr fills, const std::vector<Fill>& inputs,
                         std::size_t sets) {
  std::uint64_t longest = 0;
  for (const Fill& input : inputs) longest = std::max(longest, input.elements);
  void* arguments[] = {&base, &fills};
  launch_trusted(fill_, inputs.size() * sets, longest, arguments);
}

void DeviceSession::fill(CUdeviceptr base, const std::vector<Fill>& inputs, std::uint64_t seed,
                         double factor) {
  draw(base, fills_.upload(with_seed(inputs, 0, seed, factor)), inputs, 1);
}

void DeviceSession::launch(const Program& program, CUdeviceptr set) {
  if (library_) return library_->call(program.host, set);
  for (std::uint32_t i = 0; i < program.launches.size(); ++i) {
    try {
      launch_one(program.launches[i], set, kernels_.at(program.launches[i].kernel));
    } catch (const CudaError& error) {
      throw RefusedLaunch(error, i);
    }
  }
}

void DeviceSession::stage(const Run& run) {
  require_space(run.program.bytes);
  KRL_CUDA(cuMemsetD8Async, arena_.get(), kPoisonValue, run.program.bytes, nullptr);
  fill(arena_.get(), run.program.inputs, run.seed, run.factor);
}

void DeviceSession::run(const Run& run) {
  stage(run);
  start(run.program);
  if (library_) library_->finish();
  KRL_CUDA(cuCtxSynchronize);
}

void DeviceSession::flush_l2() {
  KRL_CUDA(cuMemsetD8Async, flush_.get(), 0, flush_bytes_, nullptr);
}

double DeviceSession::Sample::ns() const {
  float milliseconds = 0;
  KRL_CUDA(cuEventElapsedTime, &milliseconds, start.get(), end.get());
  return static_cast<double>(milliseconds) * 1e6;
}

std::vector<double> DeviceSession::time(const Time& time) {
  const std::size_t samples = time.places.size();
  const std::uint64_t sample_bytes = time.sets * time.program.bytes;
  for (const std::uint64_t place : time.places) require_space(place + sample_bytes);
  std::vector<DeviceFill> fills;
  for (std::size_t s = 0; s < time.seeds.size(); ++s) {
    const std::uint64_t set = s % time.sets * time.program.bytes;
    for (const DeviceFill& fill : with_seed(time.program.inputs, set, time.seeds[s], 1)) {
      fills.push_back(fill);
    }
  }
  const CUdeviceptr uploaded = fills_.upload(fills);
  const std::uint64_t fill_bytes = time.sets * time.program.inputs.size() * sizeof(DeviceFill);
  while (samples_.size() < samples) samples_.push_back({event(), event()});
  KRL_CUDA(cuCtxResetPersistingL2Cache);
  record_gap();
  for (std::size_t s = 0; s < samples; ++s) enqueue(time, s, uploaded + s * fill_bytes);
  KRL_CUDA(cuCtxSynchronize);
  gaps_ns_.push_back(gap_.ns());
  if (gaps_ns_.size() > kGaps) gaps_ns_.pop_front();
  const double gap = event_gap_ns();
  std::vector<double> ns;
  for (std::size_t s = 0; s < samples; ++s) {
    ns.push_back(std::max(samples_[s].ns() - gap, 0.0) / time.sets);
  }
  return ns;
}

void DeviceSession::enqueue(const Time& time, std::size_t sample, CUdeviceptr fills) {
  const CUdeviceptr base = arena_.get() + time.places[sample];
  const std::uint64_t set_bytes = time.program.bytes;
  KRL_CUDA(cuMemsetD8Async, base, kPoisonValue, time.sets * set_bytes, nullptr);
  draw(base, fills, time.program.inputs, time.sets);
  flush_l2();
  KRL_CUDA(cuEventRecord, samples_[sample].start.get(), nullptr);
  for (std::uint32_t set = 0; set < time.sets; ++set) launch(time.program, base + set * set_bytes);
  KRL_CUDA(cuEventRecord, samples_[sample].end.get(), nullptr);
  if (library_) library_->finish();
  keep_set(time, sample);
}

// Copies the set that is to be kept out of the way of the samples that follow.
void DeviceSession::keep_set(const Time& time, std::size_t sample) {
  if (time.keep < 0 || static_cast<std::size_t>(time.keep) / time.sets != sample) return;
  const std::uint64_t set = static_cast<std::uint64_t>(time.keep) % time.sets;
  const std::uint64_t bytes = time.program.bytes;
  KRL_CUDA(cuMemcpyDtoDAsync, arena_.get(), arena_.get() + time.places[sample] + set * bytes, bytes,
           nullptr);
}

double DeviceSession::event_gap_ns() const {
  std::vector<double> gaps(gaps_ns_.begin(), gaps_ns_.end());
  const auto middle = gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2);
  std::nth_element(gaps.begin(), middle, gaps.end());
  return gaps.empty() ? 0 : *middle;
}

void DeviceSession::record_gap() {
  flush_l2();
  KRL_CUDA(cuEventRecord, gap_.start.get(), nullptr);
  KRL_CUDA(cuEventRecord, gap_.end.get(), nullptr);
}

}  // namespace krl::gpu
