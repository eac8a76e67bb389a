#include "plugins/backends/cuda/worker/device_session.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>

#include "plugins/backends/cuda/worker/guards.hpp"
#include "plugins/backends/evaluator/check/inputs.hpp"
#include "plugins/backends/evaluator/check/poison.hpp"
#include "plugins/backends/evaluator/timing/log_ratio.hpp"

namespace krl::gpu {
using namespace evaluator;
namespace {

constexpr std::uint64_t kMallocHeap = 1 << 20;  // candidates have no use for one; CUDA's least
constexpr std::uint32_t kDefaultShared = 48 << 10;
constexpr std::size_t kGaps = 33;
constexpr int kTransfers = 3;
constexpr std::uint64_t kMostStaged = 64 << 20;
// Bytes that KernelBench writes over the L2 before a trial. This takes the GPU so long that the
// host enqueues a short call meanwhile. Fewer are written only if 64 times the L2 is less.
constexpr std::uint64_t kTrialsFlush = 256 << 20, kMostFlushes = 32;
constexpr double kSlicesNs = 5e6;  // a time slice of a GPU is 2 ms or so
constexpr std::uint32_t kMostSliceRounds = 1u << 24;
// Samples that the host has enqueued when the GPU starts a batch. Flushing the L2 and running a
// sample takes the GPU about as long as enqueueing takes the host: the host stays ahead, even when
// it is held up for a while.
constexpr std::size_t kSamplesAhead = 6;

DeviceEvent event() {
  CUevent created = nullptr;
  KRL_CUDA(cuEventCreate, &created, CU_EVENT_DEFAULT);
  return DeviceEvent(created);
}

void add_inputs(const std::vector<Fill>& inputs, std::uint64_t base, const DrawnInputs& drawn,
                std::vector<DeviceFill>* fills) {
  for (const Fill& input : inputs) {
    fills->push_back({base + input.offset, input.elements, input.row,
                      mix_seed(drawn.seed, input.name), input.low, input.high, input.dtype,
                      input.values, input.structure, static_cast<int>(drawn.distribution),
                      drawn.change == 0 ? 0 : mix_seed(drawn.change, input.name)});
  }
}

// Fills the regions of a set at `base` that no launch has written with poison.
void add_blank(const Program& program, std::uint64_t base, std::uint64_t poison,
               std::vector<DeviceFill>* fills) {
  for (const Region& blank : program.blank) {
    fills->push_back({base + blank.offset, blank.bytes, 1, poison, 0, 0, 0, kFillPoison});
  }
}

// All that a set at `base` is filled with.
void add_set(const Program& program, std::uint64_t base, const DrawnInputs& drawn,
             std::uint64_t poison, std::vector<DeviceFill>* fills) {
  add_inputs(program.inputs, base, drawn, fills);
  add_blank(program, base, poison, fills);
}

bool any_changes(std::span<const DrawnInputs> all) {
  return std::any_of(all.begin(), all.end(),
                     [](const DrawnInputs& drawn) { return drawn.change != 0; });
}

std::size_t fills_of_set(const Program& program) {
  return program.inputs.size() + program.blank.size();
}

CUtensorMapDataType type_of(std::uint64_t element_bytes) {
  switch (element_bytes) {  // copies only move elements
    case 1:
      return CU_TENSOR_MAP_DATA_TYPE_UINT8;
    case 2:
      return CU_TENSOR_MAP_DATA_TYPE_UINT16;
    case 4:
      return CU_TENSOR_MAP_DATA_TYPE_UINT32;
    default:
      return CU_TENSOR_MAP_DATA_TYPE_UINT64;
  }
}

CUtensorMapSwizzle swizzle_of(std::uint64_t bytes) {
  if (bytes == 128) return CU_TENSOR_MAP_SWIZZLE_128B;
  if (bytes == 64) return CU_TENSOR_MAP_SWIZZLE_64B;
  return bytes == 32 ? CU_TENSOR_MAP_SWIZZLE_32B : CU_TENSOR_MAP_SWIZZLE_NONE;
}

CUtensorMap encoded(const TensorMap& map, CUdeviceptr set) {
  CUtensorMap result{};
  if (map.sizes.empty()) return result;  // a copy by it is an error
  const std::vector<std::uint64_t> sizes(map.sizes.rbegin(), map.sizes.rend());
  const std::vector<std::uint32_t> box(map.box.rbegin(), map.box.rend()), steps(box.size(), 1);
  std::array<std::uint64_t, 5> strides{};  // bytes, without that of the innermost
  std::uint64_t bytes = map.element_bytes;
  for (std::size_t d = 0; d + 1 < sizes.size(); ++d) strides.at(d) = bytes *= sizes[d];
  KRL_CUDA(cuTensorMapEncodeTiled, &result, type_of(map.element_bytes),
           static_cast<std::uint32_t>(sizes.size()), reinterpret_cast<void*>(set + map.offset),
           sizes.data(), strides.data(), box.data(), steps.data(), CU_TENSOR_MAP_INTERLEAVE_NONE,
           swizzle_of(map.swizzle), CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
           CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return result;
}

void launch_one(const Launch& launch, CUdeviceptr set, CUfunction kernel) {
  std::vector<CUtensorMap> maps;
  maps.reserve(launch.arguments.size());
  std::vector<std::uint64_t> values;
  values.reserve(launch.arguments.size());  // a batch has hundreds of launches
  std::vector<void*> arguments;
  arguments.reserve(launch.arguments.size());
  for (const Argument& argument : launch.arguments) {
    if (argument.kind == Argument::kTensorMap) {
      maps.push_back(encoded(launch.tensor_maps.at(argument.value), set));
      arguments.push_back(&maps.back());
    } else {
      const bool is_address = argument.kind == Argument::kAddress;
      values.push_back(is_address ? set + argument.value : argument.value);
      arguments.push_back(&values.back());
    }
  }
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

void poison(CUdeviceptr memory, std::uint64_t bytes, std::uint64_t number) {
  const auto kind = static_cast<Poison>(number % static_cast<std::uint64_t>(Poison::kRandom));
  const auto byte = static_cast<unsigned char>(poison_word(kind, 0, 0));
  KRL_CUDA(cuMemsetD8Async, memory, byte, bytes, nullptr);
}

DeviceSession::DeviceSession(const Setup& setup)
    : arena_bytes_(setup.arena_bytes), guards_(setup.guards) {
  CUdevice device = 0;
  KRL_CUDA(cuDeviceGet, &device, setup.device);
  KRL_CUDA(cuDevicePrimaryCtxRetain, &context_, device);
  KRL_CUDA(cuCtxSetCurrent, context_);
  KRL_CUDA(cuCtxSetLimit, CU_LIMIT_MALLOC_HEAP_SIZE, kMallocHeap);
  CUmodule trusted = nullptr;
  KRL_CUDA(cuModuleLoadData, &trusted, setup.trusted_code.data());
  trusted_ = DeviceModule(trusted);
  fill_ = this->trusted("krl_fill");
  change_ = this->trusted("krl_change");
  put_away_ = this->trusted("krl_put_away");
  nothing_ = this->trusted("krl_nothing");
  gate_.emplace(this->trusted("krl_wait"));
  leftovers_.emplace(device, [this](const char* name) { return this->trusted(name); });
  arena_ = allocate(arena_bytes_);
  flush_bytes_ =
      2 * static_cast<std::uint64_t>(attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, device));
  flush_ = allocate(std::max<std::uint64_t>(flush_bytes_, 1));
  gap_ = {event(), event()};
  put_away(arena_.get(), {{0, kNone}}, arena_bytes_, guards_);
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

DeviceSession::Module DeviceSession::loaded(const Load& load) {
  CUmodule module = nullptr;
  KRL_CUDA(cuModuleLoadData, &module, load.cubin.data());
  Module loaded{DeviceModule(module), {}, {false, load.stack_bytes}, load};
  for (const std::string& name : load.kernels) {
    CUfunction& kernel = loaded.kernels.emplace_back();
    KRL_CUDA(cuModuleGetFunction, &kernel, module, name.c_str());
    int shared = 0;
    KRL_CUDA(cuFuncGetAttribute, &shared, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, kernel);
    loaded.footprint.shared |= shared > 0;
  }
  return loaded;
}

void DeviceSession::load(const Load& load) {
  KRL_CUDA(cuCtxResetPersistingL2Cache);
  beside_ = {};
  if (!load.beside) {
    library_.reset();
    if (is_as_new(load)) return;
    loaded_ = {};
  }
  if (!load.library.empty()) {
    library_.emplace(load.library, trusted("krl_find_changes"), trusted("krl_gather"));
    return;
  }
  (load.beside ? beside_ : loaded_) = loaded(load);
}

// Is the same code loaded, without variables in which it could have left something?
bool DeviceSession::is_as_new(const Load& load) const {
  const Load& code = loaded_.code;
  return loaded_.module.get() != nullptr && !code.has_variables && code.cubin == load.cubin &&
         code.kernels == load.kernels;
}

// Values in the module's variables are gone.
void DeviceSession::load_anew() {
  if (loaded_.module.get() == nullptr || is_as_new(loaded_.code)) return;
  const Load code = std::move(loaded_.code);
  loaded_ = {};
  loaded_ = loaded(code);
}

void DeviceSession::require_space(std::uint64_t bytes) const {
  if (bytes > arena_bytes_) throw CudaError(CUDA_ERROR_OUT_OF_MEMORY, "the arena");
}

CUdeviceptr DeviceSession::upload_sealed(std::vector<DeviceFill> fills) {
  for (DeviceFill& fill : fills) {
    fill.seal = next_seal_++;
    fill.seed ^= guard_at(fill.seal, guards_);
  }
  return fills_.upload(fills);
}

// Draws `sets` sets; their fills are consecutive at `fills`.
void DeviceSession::draw(CUdeviceptr base, CUdeviceptr fills, const Program& program,
                         std::size_t sets, bool changes) {
  std::uint64_t longest = 0;
  for (const Fill& input : program.inputs) longest = std::max(longest, input.elements);
  for (const Region& blank : program.blank) longest = std::max(longest, blank.bytes / 8);
  std::uint64_t start = guards_.start, mask = guards_.mask;
  void* arguments[] = {&base, &fills, &start, &mask};
  launch_trusted(fill_, fills_of_set(program) * sets, longest, arguments);
  if (!changes) return;
  launch_trusted(change_, fills_of_set(program) * sets, longest / kChangedOf, arguments);
}

void DeviceSession::fill(CUdeviceptr base, const std::vector<Fill>& inputs,
                         const DrawnInputs& drawn) {
  std::vector<DeviceFill> fills;
  add_inputs(inputs, 0, drawn, &fills);
  Program program;
  program.inputs = inputs;
  draw(base, upload_sealed(std::move(fills)), program, 1, drawn.change != 0);
}

void DeviceSession::lay_out(CUdeviceptr base, const Program& program,
                            const std::vector<std::uint64_t>& places,
                            const std::vector<DrawnInputs>& drawn, std::uint64_t poison) {
  std::vector<DeviceFill> fills;
  for (std::size_t s = 0; s < drawn.size(); ++s) {
    add_set(program, places.at(s), drawn[s], poison + s, &fills);
  }
  draw(base, upload_sealed(std::move(fills)), program, drawn.size(), any_changes(drawn));
}

void DeviceSession::put_away(CUdeviceptr arena, const std::vector<DeviceMove>& moves,
                             std::uint64_t bytes, const GuardKey& key) {
  CUdeviceptr uploaded = moves_.upload(moves);
  std::uint64_t start = key.start, mask = key.mask;
  void* arguments[] = {&arena, &uploaded, &bytes, &start, &mask};
  launch_trusted(put_away_, moves.size(), bytes / sizeof(std::uint64_t), arguments);
  KRL_CUDA(cuCtxSynchronize);
}

void DeviceSession::launch(const Program& program, CUdeviceptr set, const Module& module) {
  for (std::uint32_t i = 0; i < program.launches.size(); ++i) {
    try {
      launch_one(program.launches[i], set, module.kernels.at(program.launches[i].kernel));
    } catch (const CudaError& error) {
      throw RefusedLaunch(error, i);
    }
  }
}

void DeviceSession::stage(const Run& run) {
  require_space(run.place + run.program.bytes);
  if (run.anew) load_anew();
  overwrite_leftovers(run.program, loaded_);
  lay_out(arena_.get(), run.program, {run.place}, {run.inputs}, run.poison);
  flush_l2();
}

void DeviceSession::overwrite_leftovers(const Program& program, const Module& module) {
  Footprint footprint = module.footprint;
  for (const Launch& launch : program.launches) footprint.shared |= launch.shared_bytes > 0;
  leftovers_->overwrite(footprint, overwritten_++);
}

void DeviceSession::run(const Run& run) {
  stage(run);
  try {
    start(run);
  } catch (const RefusedLaunch&) {
    put_away(arena_.get(), {{run.place, kNone}}, run.program.bytes, guards_);
    throw;
  }
  KRL_CUDA(cuCtxSynchronize);
}

HostLibrary& DeviceSession::library() {
  if (!library_) library_.emplace("", trusted("krl_find_changes"), trusted("krl_gather"));
  return *library_;
}

void DeviceSession::call(const Calls& calls) {
  for (const std::uint64_t place : calls.places) library().call(calls.host, arena_.get() + place);
  KRL_CUDA(cuCtxSynchronize);
}

double DeviceSession::time_launches(const Stage& stage) {
  require_space(*std::max_element(stage.places.begin(), stage.places.end()) + stage.program.bytes);
  lay_out(arena_.get(), stage.program, stage.places, stage.inputs(), stage.poison);
  launch(stage.program, arena_.get() + stage.places.front());  // the first takes longer
  flush_l2();
  KRL_CUDA(cuCtxSynchronize);
  KRL_CUDA(cuCtxResetPersistingL2Cache);
  const auto start = std::chrono::steady_clock::now();
  for (const std::uint64_t place : stage.places) launch(stage.program, arena_.get() + place);
  KRL_CUDA(cuCtxSynchronize);
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
  return took.count() / static_cast<double>(stage.places.size());
}

void DeviceSession::flush_l2() {
  KRL_CUDA(cuMemsetD8Async, flush_.get(), 0, flush_bytes_, nullptr);
}

double DeviceSession::ns_between(const DeviceEvent& start, const DeviceEvent& end) {
  float milliseconds = 0;
  KRL_CUDA(cuEventElapsedTime, &milliseconds, start.get(), end.get());
  return static_cast<double>(milliseconds) * 1e6;
}

std::vector<std::vector<double>> DeviceSession::time(const Time& time) {
  require_space(time);
  load_anew();
  const std::vector<Queued> programs = upload(time);
  const std::size_t all = programs.size() * time.samples;
  while (samples_.size() < all) samples_.push_back({event(), event()});
  launch_unmeasured(time, programs);
  KRL_CUDA(cuCtxResetPersistingL2Cache);
  record_gap();
  gate_->behind([&] { enqueue_all(time, programs); });
  KRL_CUDA(cuCtxSynchronize);
  const double gap = update_gap();
  std::vector<std::vector<double>> ns(programs.size());
  for (std::size_t n = 0; n < all; ++n) {
    const std::size_t program = n % programs.size();
    ns[program].push_back(std::max(samples_[n].ns() - gap, 0.0) / time.programs[program].launches);
  }
  return ns;
}

void DeviceSession::require_space(const Time& time) const {
  std::uint64_t bytes = 0;
  for (const Timed& timed : time.programs) bytes = std::max(bytes, timed.program.bytes);
  for (const std::uint64_t place : time.places) require_space(place + bytes);
  for (const std::uint64_t place : time.kept) {
    require_space(place + time.programs.front().program.bytes);
  }
}

std::vector<DeviceSession::Queued> DeviceSession::upload(const Time& time) {
  std::vector<DeviceFill> fills;
  std::vector<DeviceMove> moves;
  std::vector<std::size_t> first_fill, first_move;
  for (const Timed& timed : time.programs) {
    first_fill.push_back(fills.size());
    first_move.push_back(moves.size());
    const bool keeps = !time.kept.empty() && &timed == &time.programs.front();
    const auto add = [&](std::size_t set, std::uint64_t kept) {
      add_set(timed.program, time.places.at(set), time.inputs.at(set), time.poisons.at(set),
              &fills);
      moves.push_back({time.places[set], kept});
    };
    add(0, kNone);
    for (std::size_t s = 0; s < std::size_t{time.samples} * timed.sets(); ++s) {
      const std::size_t sample = s / timed.sets(), set = s % timed.sets();
      add(1 + sample * time.sets + set, keeps ? time.kept.at(s) : kNone);
    }
  }
  const CUdeviceptr all_fills = upload_sealed(std::move(fills)), all_moves = moves_.upload(moves);
  std::vector<Queued> programs;
  for (std::size_t p = 0; p < time.programs.size(); ++p) {
    programs.push_back({time.programs[p], p == 0 ? loaded_ : beside_,
                        all_fills + first_fill[p] * sizeof(DeviceFill),
                        all_moves + first_move[p] * sizeof(DeviceMove)});
  }
  return programs;
}

void DeviceSession::put_away(const Queued& program, std::size_t first, std::size_t sets) {
  CUdeviceptr arena = arena_.get(), moves = program.moves + first * sizeof(DeviceMove);
  std::uint64_t bytes = program.timed.program.bytes, start = guards_.start, mask = guards_.mask;
  void* arguments[] = {&arena, &moves, &bytes, &start, &mask};
  launch_trusted(put_away_, sets, bytes / sizeof(std::uint64_t), arguments);
}

// A module's first launch costs more: memory for its stack is found, its code comes in.
void DeviceSession::launch_unmeasured(const Time& time, const std::vector<Queued>& programs) {
  for (const Queued& program : programs) {
    overwrite_leftovers(program.timed.program, program.module);
    draw(arena_.get(), program.fills, program.timed.program, 1, time.inputs.front().change != 0);
    launch(program.timed.program, arena_.get() + time.places.front(), program.module);
    put_away(program, 0, 1);
  }
}

void DeviceSession::enqueue_all(const Time& time, const std::vector<Queued>& programs) {
  const std::size_t all = programs.size() * time.samples;
  for (std::size_t n = 0; n < all; ++n) {
    const std::size_t sample = n / programs.size(), turn = n % programs.size();
    const bool backwards = time.backwards != (sample % 2 == 1);
    const std::size_t program = backwards ? programs.size() - 1 - turn : turn;
    enqueue(programs[program], time, sample, samples_[sample * programs.size() + program]);
    if (n + 1 == std::min(all, kSamplesAhead)) gate_->open();
  }
}

void DeviceSession::enqueue(const Queued& queued, const Time& time, std::size_t sample,
                            const Sample& timed) {
  const Program& program = queued.timed.program;
  const std::size_t sets = queued.timed.sets(), first = 1 + sample * sets;
  overwrite_leftovers(program, queued.module);
  draw(arena_.get(), queued.fills + first * fills_of_set(program) * sizeof(DeviceFill), program,
       sets, any_changes(std::span(time.inputs).subspan(1 + sample * time.sets, sets)));
  flush_l2();
  KRL_CUDA(cuEventRecord, timed.start.get(), nullptr);
  for (std::uint32_t l = 0; l < queued.timed.launches; ++l) {
    const std::uint64_t place = time.places[1 + sample * time.sets + l];
    launch(program, arena_.get() + place, queued.module);
  }
  KRL_CUDA(cuEventRecord, timed.end.get(), nullptr);
  put_away(queued, first, sets);
}

double DeviceSession::empty_launch() {
  constexpr int kSamples = 16, kLaunches = 32;
  double least = std::numeric_limits<double>::infinity();
  while (samples_.empty()) samples_.push_back({event(), event()});
  for (int i = 0; i < kSamples; ++i) {
    const double all = time_call([&] {
      for (int l = 0; l < kLaunches; ++l) {
        KRL_CUDA(cuLaunchKernel, nothing_, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr);
      }
    });
    least = std::min(least, all / kLaunches);
  }
  return least;
}

// One block is enough: the GPU's processes have all of it in turn.
double DeviceSession::slowdown() {
  CUfunction multiply_add = trusted("krl_multiply_add");
  CUdeviceptr out = arena_.get();
  float x = 0.5f, y = 1.0f;
  const auto work_ns = [&] {
    void* arguments[] = {&out, &x, &y, &slice_rounds_};
    return time_call([&] {
      KRL_CUDA(cuLaunchKernel, multiply_add, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr);
    });
  };
  while (least_slices_ns_ < kSlicesNs && slice_rounds_ < kMostSliceRounds) {
    slice_rounds_ *= 2;
    least_slices_ns_ = work_ns();
  }
  const double ns = work_ns();
  least_slices_ns_ = std::max(std::min(least_slices_ns_, ns), 1.0);
  return ns / least_slices_ns_;
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

void DeviceSession::wake(const std::nullptr_t&) {
  KRL_CUDA(cuLaunchKernel, nothing_, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr);
  KRL_CUDA(cuCtxSynchronize);
}

std::vector<double> DeviceSession::time_trials(const Trials& trials) {
  require_space(trials.place + trials.program.bytes);
  const CUdeviceptr set = arena_.get() + trials.place;
  // No trial finds what one before has left.
  Program unwritten;
  unwritten.blank = trials.program.blank;
  const auto prepare = [&] {
    KRL_CUDA(cuCtxResetPersistingL2Cache);
    overwrite_leftovers(trials.program, loaded_);
    lay_out(arena_.get(), unwritten, {trials.place}, {{}}, overwritten_);
  };
  return trials_of([&] { launch(trials.program, set, loaded_); }, trials.warm_ups, trials.trials,
                   prepare);
}

void DeviceSession::flush_before_trial() {
  const std::uint64_t bytes = std::min(kTrialsFlush, kMostFlushes * flush_bytes_);
  if (trials_flush_.get() == 0) trials_flush_ = allocate(std::max<std::uint64_t>(bytes, 1));
  KRL_CUDA(cuMemsetD8Async, trials_flush_.get(), 42, bytes, nullptr);
}

std::array<double, 2> DeviceSession::time_called_trial(const CalledTrial& trial) {
  const auto call = [&] {
    library().drop_outputs();
    library().call(trial.host, arena_.get() + trial.place);
  };
  for (std::uint32_t i = 0; i < trial.warm_ups; ++i) {
    call();
    KRL_CUDA(cuCtxSynchronize);
  }
  library().recycle();  // no output of an earlier call remains in memory that this one gets
  const DeviceEvent start = event(), end = event(), rest = event();
  flush_before_trial();
  KRL_CUDA(cuEventRecord, start.get(), nullptr);
  call();
  KRL_CUDA(cuEventRecord, end.get(), nullptr);
  KRL_CUDA(cuCtxSynchronize);
  KRL_CUDA(cuEventRecord, rest.get(), nullptr);
  library().finish();
  return {ns_between(start, end), ns_between(end, rest)};
}

std::vector<double> DeviceSession::trials_of(const std::function<void()>& call,
                                             std::uint32_t warm_ups, std::uint32_t trials,
                                             const std::function<void()>& prepare) {
  const Sample trial{event(), event()};
  for (std::uint32_t i = 0; i < warm_ups; ++i) {
    call();
    KRL_CUDA(cuCtxSynchronize);
  }
  std::vector<double> ns;
  while (ns.size() < trials) {
    prepare();
    KRL_CUDA(cuCtxSynchronize);
    flush_before_trial();
    KRL_CUDA(cuEventRecord, trial.start.get(), nullptr);
    call();
    KRL_CUDA(cuEventRecord, trial.end.get(), nullptr);
    KRL_CUDA(cuCtxSynchronize);
    ns.push_back(trial.ns());
  }
  return ns;
}

// Returns the median of some copies, each in pieces of at most kMostStaged bytes.
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
