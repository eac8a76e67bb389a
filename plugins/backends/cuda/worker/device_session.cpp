#include "plugins/backends/cuda/worker/device_session.hpp"

#include <algorithm>

#include "plugins/backends/evaluator/check/inputs.hpp"
#include "plugins/backends/evaluator/timing/log_ratio.hpp"

namespace krl::gpu {
namespace {

constexpr std::uint64_t kMallocHeap = 1 << 20;  // candidates have no use for one; CUDA's least
constexpr std::uint32_t kDefaultShared = 48 << 10;
constexpr std::size_t kGaps = 33;
constexpr int kTransfers = 3;
constexpr std::uint64_t kMostStaged = 64 << 20;
// Which the host has enqueued when the GPU starts a batch. It takes the GPU about as long to flush
// its L2 and run a sample as it takes the host to enqueue one: the host stays ahead, even when it
// is held up for a while.
constexpr std::size_t kSamplesAhead = 6;

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

// Of the larger of its programs' samples. A pair may have one place: what the one has left there
// must be gone when the other begins, as it may be the other's answer.
std::uint64_t bytes_of_sample(const Time& time) {
  std::uint64_t bytes = 0;
  for (const Samples& of : time.samples) bytes = std::max(bytes, of.sets * of.program.bytes);
  return bytes;
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

void poison(CUdeviceptr memory, std::uint64_t bytes) {
  KRL_CUDA(cuMemsetD8Async, memory, static_cast<unsigned char>(kPoison), bytes, nullptr);
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
  gate_.emplace(this->trusted("krl_wait"));
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
  beside_ = {};
  if (!load.beside) {
    loaded_ = {};
    library_.reset();
  }
  if (!load.library.empty()) {
    library_.emplace(load.library, trusted("krl_find_changes"));
    return;
  }
  Module& target = load.beside ? beside_ : loaded_;
  CUmodule module = nullptr;
  KRL_CUDA(cuModuleLoadData, &module, load.cubin.data());
  target.module = DeviceModule(module);
  for (const std::string& name : load.kernels) {
    KRL_CUDA(cuModuleGetFunction, &target.kernels.emplace_back(), module, name.c_str());
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

void DeviceSession::launch(const Program& program, CUdeviceptr set, const Module& module) {
  if (library_) return library_->call(program.host, set);
  for (std::uint32_t i = 0; i < program.launches.size(); ++i) {
    try {
      launch_one(program.launches[i], set, module.kernels.at(program.launches[i].kernel));
    } catch (const CudaError& error) {
      throw RefusedLaunch(error, i);
    }
  }
}

void DeviceSession::stage(const Run& run) {
  require_space(run.program.bytes);
  poison(arena_.get(), run.program.bytes);
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

std::vector<std::vector<double>> DeviceSession::time(const Time& time) {
  for (const Samples& of : time.samples) {
    for (const std::uint64_t place : of.places) require_space(place + bytes_of_sample(time));
  }
  const std::vector<Queued> programs = upload(time);
  const std::size_t all = programs.size() * time.samples.front().places.size();
  while (samples_.size() < all) samples_.push_back({event(), event()});
  KRL_CUDA(cuCtxResetPersistingL2Cache);
  record_gap();
  if (library_) {  // host code may wait for the GPU, which must not wait for it
    enqueue_all(time, programs);
  } else {
    gate_->behind([&] { enqueue_all(time, programs); });
  }
  KRL_CUDA(cuCtxSynchronize);
  const double gap = update_gap();
  std::vector<std::vector<double>> ns(programs.size());
  for (std::size_t n = 0; n < all; ++n) {
    const std::size_t program = n % programs.size();
    ns[program].push_back(std::max(samples_[n].ns() - gap, 0.0) / time.samples[program].sets);
  }
  return ns;
}

std::vector<DeviceSession::Queued> DeviceSession::upload(const Time& time) {
  std::vector<DeviceFill> fills;
  for (const Samples& of : time.samples) {
    for (std::size_t s = 0; s < of.seeds.size(); ++s) {
      const std::uint64_t set = s % of.sets * of.program.bytes;
      for (const DeviceFill& fill : with_seed(of.program.inputs, set, of.seeds[s], 1)) {
        fills.push_back(fill);
      }
    }
  }
  CUdeviceptr next = fills_.upload(fills);
  std::vector<Queued> programs;
  for (const Samples& of : time.samples) {
    programs.push_back({of, programs.empty() ? loaded_ : beside_, next});
    next += of.seeds.size() * of.program.inputs.size() * sizeof(DeviceFill);
  }
  return programs;
}

void DeviceSession::enqueue_all(const Time& time, const std::vector<Queued>& programs) {
  const std::size_t all = programs.size() * time.samples.front().places.size();
  for (std::size_t n = 0; n < all; ++n) {
    const std::size_t sample = n / programs.size(), turn = n % programs.size();
    const bool backwards = time.backwards != (sample % 2 == 1);
    const std::size_t program = backwards ? programs.size() - 1 - turn : turn;
    enqueue(programs[program], sample, bytes_of_sample(time),
            samples_[sample * programs.size() + program]);
    if (program == 0) keep_set(time.samples[0], sample, time.keep);
    if (n + 1 == std::min(all, kSamplesAhead)) gate_->open();
  }
}

void DeviceSession::enqueue(const Queued& program, std::size_t sample, std::uint64_t poisoned_bytes,
                            const Sample& timed) {
  const Samples& samples = program.samples;
  const std::uint64_t set_bytes = samples.program.bytes;
  const std::uint64_t fill_bytes = samples.program.inputs.size() * sizeof(DeviceFill);
  const CUdeviceptr base = arena_.get() + samples.places[sample];
  poison(base, poisoned_bytes);
  draw(base, program.fills + sample * samples.sets * fill_bytes, samples.program.inputs,
       samples.sets);
  flush_l2();
  KRL_CUDA(cuEventRecord, timed.start.get(), nullptr);
  for (std::uint32_t set = 0; set < samples.sets; ++set) {
    launch(samples.program, base + set * set_bytes, program.module);
  }
  KRL_CUDA(cuEventRecord, timed.end.get(), nullptr);
  if (library_) library_->finish();
}

// Copies the set that is to be kept out of the way of the samples that follow.
void DeviceSession::keep_set(const Samples& samples, std::size_t sample, std::int64_t kept) {
  if (kept < 0 || static_cast<std::size_t>(kept) / samples.sets != sample) return;
  const std::uint64_t set = static_cast<std::uint64_t>(kept) % samples.sets;
  const std::uint64_t bytes = samples.program.bytes;
  KRL_CUDA(cuMemcpyDtoDAsync, arena_.get(), arena_.get() + samples.places[sample] + set * bytes,
           bytes, nullptr);
}

double DeviceSession::time_call(const std::function<void()>& call) {
  KRL_CUDA(cuCtxResetPersistingL2Cache);
  while (samples_.empty()) samples_.push_back({event(), event()});
  record_gap();
  gate_->behind([&] {
    flush_l2();
    KRL_CUDA(cuEventRecord, samples_.front().start.get(), nullptr);
    call();
    KRL_CUDA(cuEventRecord, samples_.front().end.get(), nullptr);
  });
  KRL_CUDA(cuCtxSynchronize);
  return std::max(samples_.front().ns() - update_gap(), 0.0);
}

// The median of some copies, each in pieces of what is staged at most.
std::uint64_t DeviceSession::transfer_ns(std::uint64_t bytes,
                                         const std::function<void(std::uint64_t)>& copy) {
  std::vector<double> ns;
  for (int i = 0; i < kTransfers; ++i) {
    KRL_CUDA(cuEventRecord, gap_.start.get(), nullptr);
    for (std::uint64_t done = 0; done < bytes; done += kMostStaged) {
      copy(std::min(bytes - done, kMostStaged));
    }
    KRL_CUDA(cuEventRecord, gap_.end.get(), nullptr);
    KRL_CUDA(cuCtxSynchronize);
    ns.push_back(gap_.ns());
  }
  return static_cast<std::uint64_t>(median_of(ns));
}

Transfer DeviceSession::transfer(const Transfer& bytes) {
  const auto known = transfers_.find({bytes.to_gpu, bytes.to_host});
  if (known != transfers_.end()) return known->second;
  const std::uint64_t staged = std::min(std::max(bytes.to_gpu, bytes.to_host), kMostStaged);
  require_space(staged);
  const HostMemory memory = allocate_host(std::max<std::uint64_t>(staged, 1));
  const auto to_gpu = [&](std::uint64_t n) {
    KRL_CUDA(cuMemcpyHtoDAsync, arena_.get(), memory.get(), n, nullptr);
  };
  const auto to_host = [&](std::uint64_t n) {
    KRL_CUDA(cuMemcpyDtoHAsync, memory.get(), arena_.get(), n, nullptr);
  };
  const Transfer ns{transfer_ns(bytes.to_gpu, to_gpu), transfer_ns(bytes.to_host, to_host)};
  transfers_[{bytes.to_gpu, bytes.to_host}] = ns;
  return ns;
}

double DeviceSession::update_gap() {
  gaps_ns_.push_back(gap_.ns());
  if (gaps_ns_.size() > kGaps) gaps_ns_.pop_front();
  return median_of({gaps_ns_.begin(), gaps_ns_.end()});
}

void DeviceSession::record_gap() {
  flush_l2();
  KRL_CUDA(cuEventRecord, gap_.start.get(), nullptr);
  KRL_CUDA(cuEventRecord, gap_.end.get(), nullptr);
}

}  // namespace krl::gpu
