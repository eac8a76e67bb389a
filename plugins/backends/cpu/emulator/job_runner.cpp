#include "plugins/backends/cpu/emulator/job_runner.hpp"

#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <string>

#include "plugins/backends/cpu/emulator/elf_module.hpp"
#include "plugins/backends/cpu/emulator/hooks.hpp"
#include "plugins/backends/cpu/emulator/machine.hpp"
#include "plugins/backends/cpu/emulator/scheduler.hpp"

namespace krl::emulator {
namespace {

constexpr std::uint32_t kMaxThreadsPerBlock = 1024;
constexpr Dim3 kMaxBlock = {1024, 1024, 64};
constexpr Dim3 kMaxGrid = {2147483647, 65535, 65535};
constexpr std::size_t kMaxBuffers = 255;

std::uint64_t count_of(const Dim3& d) { return std::uint64_t{d[0]} * d[1] * d[2]; }

KernelFacts facts_of(const ElfModule& module, std::size_t index, const std::string& name) {
  KernelFacts facts;
  facts.name = name;
  facts.shared_bytes = module.shared_bytes_of_kernel(index);
  const krl_kernel_record& record = *module.kernel(index);
  for (unsigned i = 0; i < record.parameter_count; ++i) {
    const krl_parameter& p = record.parameters[i];
    facts.parameters.push_back(
        {static_cast<ParameterKind>(p.kind), p.size, p.const_pointee != 0, p.pointee_size});
  }
  return facts;
}

// The word that carries `argument` to a parameter like `parameter`; an empty message if it fits.
// Integers adapt to the parameter's width, as they would in a launch in C++.
std::string bind_argument(const Argument& argument, const Parameter& parameter, const Run& run,
                          std::byte* arena, std::uint64_t& word) {
  word = 0;
  if (const auto* buffer = std::get_if<BufferArgument>(&argument)) {
    if (parameter.kind != ParameterKind::kPointer)
      return "is a tensor, but the kernel's parameter is no pointer";
    if (buffer->buffer >= run.buffers.size()) return "names a buffer that the run does not have";
    word = reinterpret_cast<std::uint64_t>(arena + run.buffers[buffer->buffer].offset);
    return {};
  }
  if (const auto* value = std::get_if<float>(&argument)) {
    if (parameter.kind != ParameterKind::kFloating || parameter.size != sizeof(float)) {
      return "is a float, but the kernel's parameter is not";
    }
    std::memcpy(&word, value, sizeof(float));
    return {};
  }
  if (parameter.kind != ParameterKind::kInteger)
    return "is an integer, but the kernel's parameter is not";
  const auto* narrow = std::get_if<std::int32_t>(&argument);
  const std::int64_t value = narrow != nullptr ? *narrow : std::get<std::int64_t>(argument);
  const unsigned bits = parameter.size * 8;
  if (bits < 64 && (value >= std::int64_t{1} << bits || value < -(std::int64_t{1} << (bits - 1)))) {
    return "is " + std::to_string(value) + ", which does not fit the kernel's parameter of " +
           std::to_string(parameter.size) + " bytes";
  }
  word = static_cast<std::uint64_t>(value);
  return {};
}

class JobRunner {
 public:
  JobRunner(const Job& job, std::span<std::byte> arena) : job_(job), arena_(arena) {}

  Result run(std::string_view bytes) {
    std::string why;
    module_ = ElfModule::load(bytes, hook_address, why);
    if (!module_) {
      unsupported(why);
      return std::move(result_);
    }
    for (std::size_t i = 0; i < job_.kernels.size(); ++i) {
      if (module_->kernel(i) == nullptr) {
        unsupported("the module does not export kernel " + std::to_string(i) + ", \"" +
                    job_.kernels[i] + "\"");
        return std::move(result_);
      }
      result_.kernels.push_back(facts_of(*module_, i, job_.kernels[i]));
    }
    const auto begin = reinterpret_cast<std::uintptr_t>(arena_.data());
    machine_ = std::make_unique<Machine>(*module_, AddressRange{begin, begin + arena_.size()});
    scheduler_ = std::make_unique<Scheduler>(*machine_);
    result_.fault = machine_->guarded([this] { machine_->run_constructors(); });
    for (run_ = 0; run_ < job_.runs.size() && !result_.fault; ++run_) {
      if (!check_run(job_.runs[run_])) break;
      execute(job_.runs[run_]);
    }
    return std::move(result_);
  }

 private:
  void unsupported(std::string message) {
    result_.fault.emplace();
    result_.fault->kind = FaultKind::kUnsupported;
    result_.fault->message = std::move(message);
  }

  bool refuse(std::uint32_t launch, std::int32_t argument, std::string message) {
    result_.launch_error = {static_cast<std::uint32_t>(run_), launch, argument, std::move(message)};
    return false;
  }

  bool check_run(const Run& run) {
    if (run.buffers.size() > kMaxBuffers) return refuse(0, -1, "a run has at most 255 buffers");
    for (const auto& buffer : run.buffers) {
      if (buffer.offset % kBufferAlignment != 0 || buffer.offset > arena_.size() ||
          buffer.bytes > arena_.size() - buffer.offset) {
        return refuse(
            0, -1,
            "buffer " + buffer.name + " does not lie in the arena at a multiple of 256 bytes");
      }
    }
    for (std::uint32_t i = 0; i < run.launches.size(); ++i) {
      if (!check_launch(run, i)) return false;
    }
    return true;
  }

  bool check_launch(const Run& run, std::uint32_t index) {
    const Launch& launch = run.launches[index];
    if (launch.kernel >= result_.kernels.size())
      return refuse(index, -1, "there is no such kernel");
    const KernelFacts& kernel = result_.kernels[launch.kernel];
    for (std::size_t d = 0; d < 3; ++d) {
      const std::string axis(1, "xyz"[d]);
      if (launch.grid[d] == 0 || launch.grid[d] > kMaxGrid[d]) {
        return refuse(index, -1,
                      "grid." + axis + " is " + std::to_string(launch.grid[d]) +
                          ", allowed are 1 to " + std::to_string(kMaxGrid[d]));
      }
      if (launch.block[d] == 0 || launch.block[d] > kMaxBlock[d]) {
        return refuse(index, -1,
                      "block." + axis + " is " + std::to_string(launch.block[d]) +
                          ", allowed are 1 to " + std::to_string(kMaxBlock[d]));
      }
    }
    if (count_of(launch.block) > kMaxThreadsPerBlock) {
      return refuse(
          index, -1,
          "a block of " + std::to_string(count_of(launch.block)) + " threads; at most 1024");
    }
    const std::uint64_t shared = std::uint64_t{kernel.shared_bytes} + launch.dynamic_shared_bytes;
    if (shared > job_.max_shared_bytes) {
      return refuse(index, -1,
                    "a block needs " + std::to_string(shared) +
                        " bytes of shared memory; it may have " +
                        std::to_string(job_.max_shared_bytes));
    }
    if (launch.arguments.size() != kernel.parameters.size()) {
      return refuse(index, -1,
                    kernel.name + " takes " + std::to_string(kernel.parameters.size()) +
                        " arguments, the launch has " + std::to_string(launch.arguments.size()));
    }
    if (launch.arguments.size() > KRL_MAX_ARGUMENTS)
      return refuse(index, -1, "at most 64 arguments");
    for (std::size_t a = 0; a < launch.arguments.size(); ++a) {
      std::uint64_t word;
      const auto why =
          bind_argument(launch.arguments[a], kernel.parameters[a], run, arena_.data(), word);
      if (!why.empty()) {
        return refuse(index, static_cast<std::int32_t>(a),
                      "argument " + std::to_string(a + 1) + " of " + kernel.name + " " + why);
      }
    }
    return true;
  }

  void execute(const Run& run) {
    if (!machine_->begin_run(run, job_.work_limit))
      return unsupported("no memory to emulate a run of this size");
    std::vector<LaunchReport> reports;
    for (std::uint32_t i = 0; i < run.launches.size() && !result_.fault; ++i) {
      reports.push_back(execute(run, i));
    }
    result_.work += machine_->work_done();
    if (!result_.fault) result_.runs.push_back(std::move(reports));
  }

  LaunchReport execute(const Run& run, std::uint32_t index) {
    const Launch& launch = run.launches[index];
    const KernelFacts& kernel = result_.kernels[launch.kernel];
    LaunchReport report;
    report.grid = launch.grid;
    report.block = launch.block;
    report.kernel = launch.kernel;
    report.shared_bytes = kernel.shared_bytes + launch.dynamic_shared_bytes;
    for (std::size_t a = 0; a < launch.arguments.size(); ++a) {
      bind_argument(launch.arguments[a], kernel.parameters[a], run, arena_.data(),
                    builtin_variables.arguments[a]);
    }
    // Shared variables of all kernels have their places in the image; the launch's dynamic memory
    // lies behind them.
    machine_->begin_launch(launch, module_->shared_bytes() + launch.dynamic_shared_bytes);
    if (!scheduler_->begin_launch(static_cast<std::uint32_t>(count_of(launch.block)),
                                  module_->kernel(launch.kernel)->invoke, run.order, job_.seed)) {
      unsupported("no memory for the stacks of a block of this size");
      return report;
    }
    result_.fault = machine_->guarded([&] { run_grid(launch.grid, run.order); });
    if (result_.fault) {
      result_.fault->run = static_cast<std::uint32_t>(run_);
      result_.fault->launch = index;
      result_.fault->kernel = kernel.name;
    } else {
      report.counters = machine_->end_launch();
    }
    return report;
  }

  // Blocks in the order of the run; shuffled: a stride that visits each once.
  void run_grid(const Dim3& grid, Order order) {
    const std::uint64_t blocks = count_of(grid);
    std::uint64_t stride = 1, start = 0;
    if (order == Order::kShuffled && blocks > 2) {
      start = job_.seed % blocks;
      stride = job_.seed / 3 % (blocks - 1) + 1;
      while (std::gcd(stride, blocks) != 1) ++stride;
    }
    for (std::uint64_t n = 0; n < blocks; ++n) {
      std::uint64_t block = (start + n * (stride % blocks)) % blocks;
      if (order == Order::kReversed) block = blocks - 1 - block;
      machine_->begin_block({static_cast<std::uint32_t>(block % grid[0]),
                             static_cast<std::uint32_t>(block / grid[0] % grid[1]),
                             static_cast<std::uint32_t>(block / grid[0] / grid[1])});
      scheduler_->run_block(block);
    }
  }

  const Job& job_;
  std::span<std::byte> arena_;
  Result result_;
  std::size_t run_ = 0;
  std::unique_ptr<ElfModule> module_;
  std::unique_ptr<Machine> machine_;
  std::unique_ptr<Scheduler> scheduler_;
};

}  // namespace

Result run_job(const Job& job, std::string_view module, std::span<std::byte> arena) {
  return JobRunner(job, arena).run(module);
}

}  // namespace krl::emulator
