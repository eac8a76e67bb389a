// What the machine counts for the kernels of the corpus, a line of CSV per launch: of each
// candidate's cases, and of the naive kernel on the same cases. bench/calibrate.py fits the model
// of a GPU to it.
//
//   launch_counters PAIRS [GPU] > FILE      as many pairs as `gpu_bench agreement` had
//
// Kernels stand in the order of the corpus, so that line numbers of the measurement can be joined.
// Columns that start with "path_" are the critical path's, those with "class_" instructions of
// warps by their class; estimated_ns is the launch's estimate on GPU by the model as it is built.
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <stdexcept>
#include <string>

#include "bench/corpus.hpp"
#include "plugins/backends/compiled/compiled_module.hpp"
#include "plugins/backends/compiled/compute_capability.hpp"
#include "plugins/backends/cpu/gpu_model.hpp"
#include "plugins/backends/cpu/plugin/assembled_kernels.hpp"
#include "plugins/backends/cpu/plugin/machine_runs.hpp"
#include "plugins/backends/nvrtc/compile_servers.hpp"
#include "plugins/backends/nvrtc/nvrtc_compiler.hpp"

namespace {

using namespace krl;
using namespace krl::cpu;
using namespace krl::compiled;
using namespace krl::evaluator;
using namespace krl::nvrtc;
using cpu::AssembledKernel;
using cpu::Counters;
using cpu::CriticalPath;
using cpu::LaunchReport;

constexpr std::uint64_t kSeed = 7;  // of the measurement
const std::string kWorkers = KERNELRL_BINARY_DIR "/libexec/kernelrl/";

struct CounterColumn {
  const char* name;
  std::uint64_t Counters::*counter;
};
constexpr CounterColumn kCounters[] = {
    {"blocks", &Counters::blocks},
    {"warps", &Counters::warps},
    {"instructions", &Counters::instructions},
    {"global_load_requests", &Counters::global_load_requests},
    {"global_load_sectors", &Counters::global_load_sectors},
    {"global_store_requests", &Counters::global_store_requests},
    {"global_store_sectors", &Counters::global_store_sectors},
    {"vector8_requests", &Counters::vector8_requests},
    {"vector16_requests", &Counters::vector16_requests},
    {"dram_load_sectors", &Counters::dram_load_sectors},
    {"dram_store_sectors", &Counters::dram_store_sectors},
    {"l1_sectors", &Counters::l1_sectors},
    {"l2_sectors", &Counters::l2_sectors},
    {"constant_repeats", &Counters::constant_repeats},
    {"shared_wavefronts", &Counters::shared_wavefronts},
    {"global_atomics", &Counters::global_atomics},
    {"shared_atomics", &Counters::shared_atomics},
    {"shared_atomic_repeats", &Counters::shared_atomic_repeats},
    {"shared_atomic_loops", &Counters::shared_atomic_loops},
    {"atomic_passes", &Counters::atomic_passes},
    {"hottest_atomic", &Counters::hottest_atomic},
    {"shuffles", &Counters::shuffles},
    {"votes", &Counters::votes},
    {"warp_barriers", &Counters::warp_barriers},
    {"local_requests", &Counters::local_requests},
    {"local_sectors", &Counters::local_sectors},
    {"code_instructions", &Counters::code_instructions},
    {"typical_runs", &Counters::typical_runs},
    {"span_clocks", &Counters::span_clocks},
};

struct PathColumn {
  const char* name;
  std::uint64_t CriticalPath::*count;
};
constexpr PathColumn kPath[] = {
    {"path_instructions", &CriticalPath::instructions},
    {"path_clocks", &CriticalPath::clocks},
    {"path_dram_requests", &CriticalPath::dram_requests},
    {"path_l2_requests", &CriticalPath::l2_requests},
    {"path_l1_requests", &CriticalPath::l1_requests},
    {"path_shared_requests", &CriticalPath::shared_requests},
    {"path_warp_operations", &CriticalPath::warp_operations},
    {"path_barriers", &CriticalPath::barriers},
    {"path_atomics", &CriticalPath::atomics},
    {"path_loop_turns", &CriticalPath::loop_turns},
    {"path_waits", &CriticalPath::waits},
};

void print_header() {
  std::printf(
      "kernel,task,case,role,launch,block_threads,shared_bytes,registers,spill_bytes,"
      "blocks_per_sm,estimated_ns");
  for (const CounterColumn& column : kCounters) std::printf(",%s", column.name);
  for (const auto name : cpu::kInstructionClassNames) std::printf(",class_%s", name.data());
  for (const char* type : {"f16", "tf32", "f8", "s8", "s4", "f64"}) std::printf(",tensor_%s", type);
  for (const PathColumn& column : kPath) std::printf(",%s", column.name);
  std::printf("\n");
}

void print(const LaunchReport& launch, const AssembledKernel& kernel,
           const cpu::GpuDescription& gpu) {
  const cpu::LaunchEstimate estimated = estimate(launch, kernel, gpu);
  std::printf("%u,%u,%d,%d,%u,%.3f", launch.block[0] * launch.block[1] * launch.block[2],
              launch.shared_bytes, kernel.registers, kernel.spill_bytes, estimated.blocks_per_sm,
              estimated.ns);
  const auto print_count = [](std::uint64_t count) {
    std::printf(",%llu", static_cast<unsigned long long>(count));
  };
  for (const CounterColumn& column : kCounters) print_count(launch.counters.*column.counter);
  for (const std::uint64_t count : launch.counters.classes) print_count(count);
  for (const std::uint64_t count : launch.counters.tensor_products) print_count(count);
  for (const PathColumn& column : kPath) print_count(launch.counters.critical.*column.count);
  std::printf("\n");
}

class Counting {
 public:
  explicit Counting(const cpu::GpuDescription& gpu)
      : gpu_(gpu), compiles_(compile_options(std::string(gpu.arch))) {
    machine_.launcher = kWorkers + "kernelrl-sandbox";
    machine_.program = kWorkers + "kernelrl-machine-x86-64";
    machine_.path_clocks = path_clocks(gpu);
    machine_.max_shared_bytes = static_cast<std::uint32_t>(require_arch(gpu.arch).shared_per_block);
  }

  // The launches of every case, as the first run of an evaluation with kSeed counts them.
  void print_launches(std::size_t index, const PreparedTask& task, const std::string& source,
                      const char* role) {
    LaunchLimits limits;
    limits.shared_bytes = machine_.max_shared_bytes;
    const auto cases = std::span(task.cases).first(task.n_cases);
    const auto schedule = read_schedule(scan_cuda_source(source), task.definition, cases, limits);
    if (!schedule)
      throw std::runtime_error(task.definition.id + ": " + described(schedule.error()));
    const auto output = compiles_.compile(source, schedule->kernels, never_);
    if (output.end != CompileOutput::kCompiled) throw std::runtime_error(output.why);
    const auto module = module_from_bytes(output.module);
    if (!module) throw std::runtime_error("the compile server gave no module");
    std::string why;
    const auto all = read_kernels(*module, why);
    if (!all) throw std::runtime_error(why);
    std::vector<MachineRun> planned;
    for (const PlannedRun& run : plan_counted(task.n_cases, mix_seed(kSeed, task.digest))) {
      if (run.counted) planned.push_back({run, inputs_of(task, run)});
    }
    MachineRuns runs(task, *schedule, std::move(planned), mix_seed(kSeed, "order"));
    const AssembledKernels kernels = assembled_kernels(requested_kernels(*module, *all));
    const auto resident = [&](const cpu::Launch& launch) {
      const AssembledKernel& kernel = kernels.at(launch.kernel);
      const auto shared = static_cast<std::uint32_t>(kernel.shared_bytes);
      return resident_blocks(launch.block, shared + launch.dynamic_shared_bytes, kernel, gpu_);
    };
    if (!runs.execute(machine_, {module->ptx, module->names, resident}, never_)) {
      throw std::runtime_error(runs.why());
    }
    if (runs.result().runs.size() != task.n_cases) {
      throw std::runtime_error(task.definition.id + ": a run did not end as it should");
    }
    for (std::size_t c = 0; c < task.n_cases; ++c) {
      for (std::size_t l = 0; l < runs.result().runs[c].size(); ++l) {
        std::printf("%zu,%s,%zu,%s,%zu,", index, task.definition.id.c_str(), c, role, l);
        const LaunchReport& launch = runs.result().runs[c][l];
        print(launch, kernels.at(launch.kernel), gpu_);
      }
    }
  }

 private:
  static CompileServerOptions compile_options(const std::string& arch) {
    const NvrtcLibrary nvrtc = find_nvrtc({}, KERNELRL_PYTHON_DEPS);
    CompileServerOptions options;
    options.launcher = kWorkers + "kernelrl-sandbox";
    options.program = kWorkers + "kernelrl-nvrtc";
    options.library = nvrtc.library.string();
    options.options = nvrtc_options({arch, {}, {}}, nvrtc);
    options.rules.readable = nvrtc_files(nvrtc);
    return options;
  }

  static std::shared_ptr<const CaseData> inputs_of(const PreparedTask& task,
                                                   const PlannedRun& run) {
    auto data = std::make_shared<CaseData>();
    for (const TensorDefinition& definition : task.definition.inputs) {
      const ResolvedTensor& tensor = *task.cases[run.case_index].find(definition.name);
      data->inputs.emplace_back(static_cast<std::size_t>(tensor.bytes()));
      fill_input(tensor, run.seed, run.distribution, data->inputs.back());
    }
    return data;
  }

  const cpu::GpuDescription& gpu_;
  CompileServers compiles_;
  MachineOptions machine_;
  const std::function<bool()> never_ = [] { return false; };
};

}  // namespace

int main(int count, char** words) {
  const cpu::GpuDescription* gpu = cpu::find_gpu(count > 2 ? words[2] : "H200 SXM");
  if (count < 2 || gpu == nullptr) {
    std::fprintf(stderr, "usage: launch_counters PAIRS [GPU] >FILE; GPU as in gpu_table.cpp\n");
    return 2;
  }
  try {
    Counting counting(*gpu);
    const auto works = bench::corpus(static_cast<std::size_t>(std::atoi(words[1])));
    print_header();
    for (std::size_t i = 0; i < works.size(); ++i) {
      const PreparedTask task = prepare_task(works[i].task.definition_json);
      counting.print_launches(i, task, works[i].source, "candidate");
      counting.print_launches(i, task, task.definition.naive, "naive");
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "launch_counters: %s\n", error.what());
    return 1;
  }
  return 0;
}
