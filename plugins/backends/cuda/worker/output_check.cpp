#include "plugins/backends/cuda/worker/output_check.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <future>

#include "plugins/backends/evaluator/check/element.hpp"

namespace krl::gpu {
using namespace evaluator;
namespace {

template <class T>
std::vector<T> downloaded(CUdeviceptr memory, std::uint64_t count) {
  std::vector<T> values(count);
  if (count > 0) KRL_CUDA(cuMemcpyDtoH, values.data(), memory, count * sizeof(T));
  return values;
}

// True if the reference is quicker on a processor. With so little to compute, a GPU waits longer
// for the launch of each of a reference's many operations than the operation takes on a processor.
// PyTorch's float32 results differ there, which matters if they are expected exactly.
bool is_quicker_on_cpu(const OracleRequest& request) {
  constexpr std::uint64_t kLittle = 256 << 10;
  return request.memory_bytes <= kLittle && request.terms != 0;
}

}  // namespace

std::uint64_t elements_of(const OracleTensor& tensor) {
  std::uint64_t elements = 1;
  for (const std::int64_t size : tensor.shape) elements *= static_cast<std::uint64_t>(size);
  return elements;
}

OutputCheck::OutputCheck(DeviceSession& session, ReferenceDevice device, std::uint64_t memory_bytes,
                         KeptMemory& kept)
    : session_(session),
      kept_(kept),
      expected_(memory_bytes),
      compare_reals_(session.trusted("krl_compare_reals")),
      compare_integers_(session.trusted("krl_compare_integers")),
      find_changes_(session.trusted("krl_find_changes")),
      fetch_(session.trusted("krl_fetch")) {
  kept_.add([this] { return expected_.drop_oldest(); });
  if (device == ReferenceDevice::kCuda) on_gpu_.emplace(device);
  if (on_gpu_) kept_.add([this] { return on_gpu_->drop_unused_memory(); });
}

void OutputCheck::attach(const Attach& attach) {
  CUipcMemHandle handle;
  if (attach.arena.size() != sizeof handle.reserved) {
    throw CudaError(CUDA_ERROR_INVALID_VALUE, "an arena's handle");
  }
  std::memcpy(handle.reserved, attach.arena.data(), sizeof handle.reserved);
  CUdeviceptr memory = 0;
  KRL_CUDA(cuIpcOpenMemHandle, &memory, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
  arenas_[attach.runner] = {ImportedMemory(memory), attach.bytes, attach.guards};
  if (attach.put_guards) {
    session_.put_away(memory, {{0, kNone}}, attach.bytes, attach.guards);
  }
}

void OutputCheck::detach(const Detach& detach) { arenas_.erase(detach.runner); }

ReferenceProblem OutputCheck::compute(const OracleRequest& request, CUdeviceptr memory,
                                      ReferenceStore& on_cpu, Turn& turn) {
  const bool tries_cpu = on_gpu_ && is_quicker_on_cpu(request);
  if (tries_cpu && !compute_on_cpu(request, memory, on_cpu, turn)) return {};
  if (on_gpu_) {
    KRL_CUDA(cuCtxSynchronize);
    const auto problem = on_gpu_->compute(request, reinterpret_cast<std::byte*>(memory));
    KRL_CUDA(cuCtxSynchronize);
    if (!problem) return {};
  }
  // A reference may create tensors on the CPU, and then works only there.
  return compute_on_cpu(request, memory, on_cpu, turn).value_or(ReferenceProblem());
}

std::optional<ReferenceProblem> OutputCheck::compute_on_cpu(const OracleRequest& request,
                                                            CUdeviceptr memory,
                                                            ReferenceStore& on_cpu, Turn& turn) {
  auto host = downloaded<std::byte>(memory, request.memory_bytes);
  turn.unlock();
  auto problem = on_cpu.compute(request, host.data());
  turn.lock();
  if (!problem) KRL_CUDA(cuMemcpyHtoD, memory, host.data(), host.size());
  return problem;
}

std::shared_ptr<const OutputCheck::Expected> OutputCheck::expected(const Check& check) {
  return expected(check, on_cpu_.front());
}

std::shared_ptr<const OutputCheck::Expected> OutputCheck::expected(const Check& check,
                                                                   ReferenceStore& on_cpu) {
  return expected_.get(check.key, [&] {
    Turn turn(turn_);
    const std::uint64_t bytes = std::max<std::uint64_t>(check.reference.memory_bytes, 1);
    kept_.make_room(bytes);
    Expected fresh{allocate(bytes), {}};
    session_.fill(fresh.memory.get(), check.inputs, check.drawn);
    fresh.problem = compute(check.reference, fresh.memory.get(), on_cpu, turn);
    return std::pair(std::move(fresh), bytes);
  });
}

void OutputCheck::expect(const std::vector<Check>& checks) {
  std::vector<const Check*> little;
  for (const Check& check : checks) {
    if (is_quicker_on_cpu(check.reference)) little.push_back(&check);
  }
  std::atomic<std::size_t> next = 0;
  const auto work = [&](ReferenceStore& on_cpu) {
    KRL_CUDA(cuCtxSetCurrent, session_.context());
    for (std::size_t i; (i = next++) < little.size();) expected(*little[i], on_cpu);
  };
  std::vector<std::future<void>> others;
  while (others.size() + 1 < std::min(little.size(), on_cpu_.size())) {
    ReferenceStore& on_cpu = on_cpu_[others.size() + 1];
    others.push_back(std::async(std::launch::async, work, std::ref(on_cpu)));
  }
  work(on_cpu_.front());
  for (std::future<void>& other : others) other.get();
}

std::vector<CheckResult> OutputCheck::check(const std::vector<Check>& checks) {
  expect(checks);
  std::vector<CheckResult> results;
  for (const Check& one : checks) results.push_back(checked(one));
  return results;
}

CheckResult OutputCheck::checked(const Check& check) {
  const auto right = expected(check);
  CheckResult result;
  result.problem = right->problem;
  if (!result.problem.message.empty() || check.runner == 0) return result;
  const Arena& arena = arenas_.at(check.runner);
  const CUdeviceptr set = check.fetched ? copies_.get() : arena.memory.get() + check.place;
  compare(check, set, right->memory.get(), &result);
  find_changes(check, set, right->memory.get(), &result);
  if (!check.fetched) {
    session_.put_away(arena.memory.get(), {{check.place, kNone}}, check.bytes, arena.guards);
  }
  return result;
}

void OutputCheck::stage(const Stage& stage) {
  reserve_copies(stage.places.size() * stage.program.bytes);
  session_.lay_out(arenas_.at(stage.runner).memory.get(), stage.program, stage.places,
                   stage.inputs(), stage.poison);
  session_.flush_l2();
  KRL_CUDA(cuCtxSynchronize);
  KRL_CUDA(cuCtxResetPersistingL2Cache);  // a flush leaves what persists
}

void OutputCheck::reserve_copies(std::uint64_t bytes) {
  if (bytes <= copies_bytes_) return;
  copies_ = {};
  copies_bytes_ = 0;
  kept_.make_room(bytes);
  copies_ = allocate(bytes);
  copies_bytes_ = bytes;
}

void OutputCheck::fetch(const Fetch& fetch) {
  reserve_copies(fetch.places.size() * fetch.bytes);
  std::vector<DeviceMove> moves;
  for (std::size_t s = 0; s < fetch.places.size(); ++s) {
    moves.push_back({fetch.places[s], fetch.kept.empty() ? kNone : fetch.kept.at(s)});
  }
  const bool own = fetch.runner == 0;
  const GuardKey key = own ? GuardKey() : arenas_.at(fetch.runner).guards;
  CUdeviceptr from = own ? session_.arena() : arenas_.at(fetch.runner).memory.get();
  CUdeviceptr uploaded = moves_.upload(moves), to = copies_.get();
  std::uint64_t bytes = fetch.bytes, start = key.start, mask = key.mask;
  void* arguments[] = {&from, &uploaded, &bytes, &start, &mask, &to};
  launch_trusted(fetch_, moves.size(), bytes / sizeof(std::uint64_t), arguments);
  KRL_CUDA(cuCtxSynchronize);
}

bool OutputCheck::is_intact(const Detach& runner) {
  const Arena& arena = arenas_.at(runner.runner);
  const std::uint64_t bytes = arena.bytes / sizeof(std::uint64_t) * sizeof(std::uint64_t);
  return changes(arena.memory.get(), {{0, bytes, 0, 0}}, arena.guards).front() == 0;
}

CheckResult OutputCheck::check_outputs(const Check& check, CUdeviceptr set) {
  const auto right = expected(check);
  CheckResult checked;
  checked.problem = right->problem;
  if (checked.problem.message.empty()) compare(check, set, right->memory.get(), &checked);
  return checked;
}

ReferenceProblem OutputCheck::put_outputs(const Check& check, CUdeviceptr set) {
  const auto right = expected(check);
  const auto& outputs = check.reference.outputs;
  for (std::size_t o = 0; o < outputs.size() && right->problem.message.empty(); ++o) {
    const DType dtype = outputs[o].dtype;
    const auto size = static_cast<std::uint64_t>(size_of(dtype));
    const CUdeviceptr values = right->memory.get() + outputs[o].offset;
    std::vector<std::byte> stored;
    const auto store = [&](const auto& numbers) {
      stored.resize(numbers.size() * size);
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        store_number(dtype, static_cast<double>(numbers[i]), stored.data() + i * size);
      }
    };
    if (is_floating(dtype)) store(downloaded<double>(values, elements_of(outputs[o])));
    if (!is_floating(dtype)) store(downloaded<std::int64_t>(values, elements_of(outputs[o])));
    KRL_CUDA(cuMemcpyHtoD, set + check.output_offsets.at(o), stored.data(), stored.size());
  }
  return right->problem;
}

std::vector<double> OutputCheck::sums(const Check& check) {
  const auto right = expected(check);
  std::vector<double> sums;
  for (const OracleTensor& output : check.reference.outputs) {
    const CUdeviceptr values = right->memory.get() + output.offset;
    double& sum = sums.emplace_back(0);
    if (is_floating(output.dtype)) {
      for (const double value : downloaded<double>(values, elements_of(output))) sum += value;
    } else {
      for (const auto value : downloaded<std::int64_t>(values, elements_of(output))) {
        sum += static_cast<double>(value);
      }
    }
  }
  return sums;
}

std::vector<OutputTraits> OutputCheck::traits(const Check& check) {
  const auto right = expected(check);
  const auto& outputs = check.reference.outputs;
  make_up({check, std::vector<double>(outputs.size())}, right->memory.get());
  std::vector<OutputTraits> traits;
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    const auto wrong = [&](const Tolerance& tolerance) {
      Check held = check;
      held.atol = tolerance.atol;
      held.rtol = tolerance.rtol;
      const auto found = reports_of(held, session_.arena(), right->memory.get());
      return static_cast<std::int64_t>(found[o].wrong);
    };
    const auto elements = static_cast<std::int64_t>(elements_of(outputs[o]));
    traits.push_back(traits_of(outputs[o].dtype, elements, {check.rtol, check.atol}, wrong));
  }
  return traits;
}

std::vector<bool> OutputCheck::try_impostor(const TryImpostor& impostor) {
  const auto right = expected(impostor.run);
  make_up(impostor, right->memory.get());
  std::vector<bool> passes;
  for (const DeviceReport& report :
       reports_of(impostor.run, session_.arena(), right->memory.get())) {
    passes.push_back(report.wrong == 0);
  }
  return passes;
}

void OutputCheck::make_up(const TryImpostor& impostor, CUdeviceptr inputs) {
  const Check& check = impostor.run;
  const CUdeviceptr arena = session_.arena();
  std::vector<Fill> fills;
  for (std::size_t o = 0; o < check.reference.outputs.size(); ++o) {
    const OracleTensor& output = check.reference.outputs[o];
    const std::uint64_t offset = check.output_offsets.at(o), elements = elements_of(output);
    const auto dtype = static_cast<int>(output.dtype);
    if (impostor.copied >= 0) {
      const CUdeviceptr input = inputs + check.inputs.at(impostor.copied).offset;
      KRL_CUDA(cuMemcpyDtoDAsync, arena + offset, input,
               elements * static_cast<std::uint64_t>(size_of(output.dtype)), nullptr);
    } else {
      const double number = impostor.numbers.at(o);  // drawn between the number and itself
      fills.push_back(
          {"", offset, elements, 1, dtype, static_cast<int>(ValueKind::kUniform), number, number});
    }
  }
  session_.fill(arena, fills, {});
}

// A reference that creates CPU tensors fails on the GPU with errors of libtorch.
std::vector<double> OutputCheck::time_reference(const TimeReference& time) {
  const std::uint64_t bytes = std::max<std::uint64_t>(time.reference.memory_bytes, 1);
  const DeviceMemory memory = allocate(bytes);
  std::vector<double> ns;
  for (const std::uint64_t seed : time.seeds) {
    session_.fill(memory.get(), time.inputs, {seed});
    KRL_CUDA(cuCtxSynchronize);
    try {
      if (on_gpu_ && time.trials > 0) {
        const auto call =
            on_gpu_->callable(time.reference, reinterpret_cast<std::byte*>(memory.get()));
        return session_.trials_of(call, time.warm_ups, time.trials);
      }
      ns.push_back(time_call(time.reference, memory.get()));
    } catch (const CudaError&) {
      throw;
    } catch (const std::exception&) {
      return {};
    }
  }
  return ns;
}

double OutputCheck::time_call(const OracleRequest& reference, CUdeviceptr memory) {
  if (on_gpu_) {
    return session_.time_call(on_gpu_->callable(reference, reinterpret_cast<std::byte*>(memory)));
  }
  auto host = downloaded<std::byte>(memory, reference.memory_bytes);
  const auto call = on_cpu_.front().callable(reference, host.data());
  const auto start = std::chrono::steady_clock::now();  // no event of the GPU sees the CPU's work
  call();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

std::vector<DeviceReport> OutputCheck::reports_of(const Check& check, CUdeviceptr set,
                                                  CUdeviceptr expected) {
  const auto& outputs = check.reference.outputs;
  const CUdeviceptr reports = reports_.upload(std::vector<DeviceReport>(outputs.size()));
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    CUdeviceptr got = set + check.output_offsets.at(o);
    CUdeviceptr values = expected + outputs[o].offset, rounding = expected + outputs[o].rounding;
    CUdeviceptr report = reports + o * sizeof(DeviceReport);
    auto dtype = static_cast<std::int32_t>(outputs[o].dtype);
    std::uint64_t elements = elements_of(outputs[o]);
    double atol = check.atol, rtol = check.rtol;
    if (is_floating(outputs[o].dtype)) {
      void* arguments[] = {&got, &dtype, &elements, &values, &rounding, &atol, &rtol, &report};
      launch_trusted(compare_reals_, 1, elements, arguments);
    } else {
      auto choices = static_cast<std::uint64_t>(outputs[o].choices);
      void* arguments[] = {&got, &dtype, &elements, &values, &choices, &report};
      launch_trusted(compare_integers_, 1, elements, arguments);
    }
  }
  return downloaded<DeviceReport>(reports, outputs.size());
}

void OutputCheck::compare(const Check& check, CUdeviceptr set, CUdeviceptr expected,
                          CheckResult* checked) {
  const std::vector<DeviceReport> found = reports_of(check, set, expected);
  for (std::size_t o = 0; o < found.size(); ++o) {
    CheckedOutput& output = checked->outputs.emplace_back();
    output.wrong = found[o].wrong;
    output.max_abs_error = found[o].max_abs_error;
    output.max_rel_error = found[o].max_rel_error;
    if (output.wrong != 0) output.first = first_errors(check, o, set, expected);
  }
}

// Finds the first errors of a wrong output; on the host, where keeping order costs nothing.
std::vector<ElementError> OutputCheck::first_errors(const Check& check, std::size_t output,
                                                    CUdeviceptr set, CUdeviceptr expected) const {
  const OracleTensor& declared = check.reference.outputs[output];
  const std::uint64_t elements = elements_of(declared);
  ResolvedTensor tensor;
  tensor.dtype = declared.dtype;
  tensor.shape = declared.shape;
  tensor.elements = static_cast<std::int64_t>(elements);
  ExpectedOutput right;
  if (is_floating(declared.dtype)) {
    right.reals = downloaded<double>(expected + declared.offset, elements);
    right.rounding = downloaded<float>(expected + declared.rounding, elements);
  } else {
    right.integers = downloaded<std::int64_t>(
        expected + declared.offset, elements * static_cast<std::uint64_t>(declared.choices));
  }
  const auto got = downloaded<std::byte>(set + check.output_offsets[output],
                                         static_cast<std::uint64_t>(tensor.bytes()));
  return compare_output(tensor, got, right, {check.rtol, check.atol}).first;
}

void OutputCheck::find_changes(const Check& check, CUdeviceptr set, CUdeviceptr expected,
                               CheckResult* checked) {
  std::vector<DeviceRange> ranges;
  std::vector<std::size_t> inputs;  // inputs, whose ranges come first
  for (std::size_t i = 0; i < check.input_offsets.size(); ++i) {
    if (check.input_offsets[i] < 0) continue;
    const OracleTensor& input = check.reference.inputs.at(i);
    const auto offset = static_cast<std::uint64_t>(check.input_offsets[i]);
    const auto bytes = elements_of(input) * static_cast<std::uint64_t>(size_of(input.dtype));
    ranges.push_back({offset, bytes, expected + input.offset});
    inputs.push_back(i);
  }
  for (const Region& guard : check.guards) {
    ranges.push_back({guard.offset, guard.bytes, 0, check.place + guard.offset});
  }
  const auto found = changes(set, ranges, arenas_.at(check.runner).guards);
  for (std::size_t r = 0; r < found.size(); ++r) {
    if (found[r] == 0) continue;
    if (r < inputs.size()) checked->changed_inputs.push_back(inputs[r]);
    if (r >= inputs.size()) checked->changed_guards.push_back(r - inputs.size());
  }
}

std::vector<std::uint64_t> OutputCheck::changes(CUdeviceptr base,
                                                const std::vector<DeviceRange>& ranges,
                                                const GuardKey& key) {
  std::uint64_t longest = 0;
  for (const DeviceRange& range : ranges) longest = std::max(longest, range.bytes);
  CUdeviceptr first = ranges_.upload(ranges);
  CUdeviceptr changed = changed_.upload(std::vector<std::uint64_t>(ranges.size()));
  std::uint64_t start = key.start, mask = key.mask;
  void* arguments[] = {&base, &first, &changed, &start, &mask};
  launch_trusted(find_changes_, ranges.size(), longest / sizeof(std::uint64_t), arguments);
  return downloaded<std::uint64_t>(changed, ranges.size());
}

}  // namespace krl::gpu
