// What the runs of an evaluation on the cpu backend cost: `kernelrl-machine` from exec to result,
// for each level of vector instructions that this processor has:
//
//   machine_bench [REPEATS [WORD]]     only rows with the word in their name
//
// Prints the least and the median wall time and the median CPU time of each, in milliseconds.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "plugins/backends/cpu/machine_protocol.hpp"
#include "tests/unit/backends/machine/emulation.hpp"

namespace {

using namespace krl::cpu;

constexpr const char* kVectorAdd =
    R"(__global__ void k(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
)";
constexpr const char* kBlockSum =
    R"(__global__ void k(const float* a, const float* b, float* c, int n) {
  __shared__ float s[8];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = i < n ? a[i] : 0.0f;
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x == 0) { for (int w = 1; w < 8; w++) v += s[w]; c[blockIdx.x] = v; }
}
)";
constexpr const char* kMatmul =
    R"(__global__ void k(const float* a, const float* b, float* c, int n) {
  __shared__ float sa[16][16], sb[16][16];
  int x = threadIdx.x % 16, y = threadIdx.x / 16, r = blockIdx.y * 16 + y, q = blockIdx.x * 16 + x;
  float s = 0;
  for (int e = 0; e < n; e += 16) {
    sa[y][x] = a[r * n + e + x]; sb[y][x] = b[(e + y) * n + q];
    __syncthreads();
    for (int d = 0; d < 16; d++) s += sa[y][d] * sb[d][x];
    __syncthreads();
  }
  c[r * n + q] = s;
}
)";

struct Sample {
  double wall_ms, cpu_ms;
};

[[noreturn]] void die(const char* what) {
  std::perror(what);
  std::exit(1);
}

// Runs `argv` in a child whose descriptors `set_up` arranges, and waits for it.
Sample timed(const std::vector<std::string>& command, const std::function<void()>& set_up) {
  std::vector<char*> argv;
  for (const auto& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = vfork();
  if (child < 0) die("vfork");
  if (child == 0) {
    set_up();
    execvp(argv[0], argv.data());
    _exit(127);
  }
  int status = 0;
  rusage usage{};
  if (wait4(child, &status, 0, &usage) != child || status != 0) die(argv[0]);
  const std::chrono::duration<double, std::milli> wall = std::chrono::steady_clock::now() - start;
  const auto ms = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_usec) / 1e3;
  };
  return {wall.count(), ms(usage.ru_utime) + ms(usage.ru_stime)};
}

void report(const char* name, std::vector<Sample> samples) {
  const auto middle = samples.size() / 2;
  std::sort(samples.begin(), samples.end(), [](auto& a, auto& b) { return a.cpu_ms < b.cpu_ms; });
  const double cpu = samples[middle].cpu_ms;
  std::sort(samples.begin(), samples.end(), [](auto& a, auto& b) { return a.wall_ms < b.wall_ms; });
  std::printf("%-34s least %8.2f   median %8.2f   CPU %8.2f\n", name, samples[0].wall_ms,
              samples[middle].wall_ms, cpu);
}

int memory_file(const std::string& content) {
  const int file = memfd_create("machine_bench", 0);
  if (file < 0 ||
      write(file, content.data(), content.size()) != static_cast<ssize_t>(content.size()))
    die("memfd");
  return file;
}

void rewind_to(int from, int to) {
  lseek(from, 0, SEEK_SET);
  dup2(from, to);
}

// A kernel, compiled: its PTX in a file in memory, and the name that it has there.
struct Module {
  explicit Module(const char* source) {
    const krl::machine::CompiledModule compiled = krl::machine::compile(source, {"k"});
    if (compiled.ptx.empty()) die(compiled.log.c_str());
    file = memory_file(compiled.ptx);
    kernel = compiled.names.front();
  }
  int file;
  std::string kernel;
};

Job job_of(std::size_t elements, Dim3 grid, std::int32_t n, std::vector<bool> counted) {
  Job job;
  job.work_limit = 1'000'000'000;
  const std::uint64_t bytes = elements * 4, stride = (bytes + 8191) / 4096 * 4096;
  for (const bool count : counted) {
    Run run;
    run.buffers = {{"a", 4096, bytes, 4, false, Role::kInput},
                   {"b", 4096 + stride, bytes, 4, false, Role::kInput},
                   {"c", 4096 + 2 * stride, bytes, 4, true, Role::kOutput}};
    run.launches = {
        {0, grid, {256, 1, 1}, 0, {BufferArgument{0}, BufferArgument{1}, BufferArgument{2}, n}}};
    run.count = count;
    job.runs.push_back(run);
  }
  return job;
}

Sample execute(const std::string& program, const Module& kernel, Job job) {
  job.kernels = {kernel.kernel};
  const Buffer last = job.runs.empty() ? Buffer{} : job.runs[0].buffers.back();
  // As an evaluation does it: the arena has been filled when the machine starts.
  const int arena = memory_file(std::string(last.offset + last.bytes + 4096, '\0'));
  const int text = memory_file(nlohmann::json(job).dump()), result = memory_file("");
  const Sample sample = timed({program}, [&] {
    // High numbers first: none of them may be overwritten before it is copied.
    const int a = fcntl(arena, F_DUPFD, 20), m = fcntl(kernel.file, F_DUPFD, 20),
              r = fcntl(result, F_DUPFD, 20);
    rewind_to(text, kJobDescriptor);
    dup2(a, kArenaDescriptor);
    dup2(m, kModuleDescriptor);
    dup2(r, kResultDescriptor);
  });
  std::string output(static_cast<std::size_t>(lseek(result, 0, SEEK_END)), '\0');
  if (pread(result, output.data(), output.size(), 0) < 0) die("result");
  const auto outcome = nlohmann::json::parse(output).get<Result>();
  if (outcome.fault) std::printf("fault: %s\n", outcome.fault->message.c_str());
  for (const int file : {arena, text, result}) close(file);
  return sample;
}

template <class F>
std::vector<Sample> repeat(int times, F measure) {
  std::vector<Sample> samples;
  for (int i = 0; i < times; ++i) samples.push_back(measure());
  return samples;
}

void measure(const std::string& program, int repeats, const std::string& word) {
  static const Module add(kVectorAdd), sum(kBlockSum), matmul(kMatmul);
  constexpr std::size_t kTypical = 16387, kMillion = 1 << 20;
  const auto row = [&](const char* what, const Module& kernel, const Job& job) {
    if (std::string(what).find(word) == std::string::npos) return;
    report(what, repeat(repeats, [&] { return execute(program, kernel, job); }));
  };
  std::printf("%s\n", program.substr(program.rfind('/') + 1).c_str());
  row("start, no run", add, Job());
  const Job four = job_of(kTypical, {65, 1, 1}, kTypical, {true, false, false, false});
  row("4 runs of vector add, 16k", add, four);
  row("4 runs of block sum, 16k", sum, four);
  const Job large = job_of(kMillion, {4096, 1, 1}, kMillion, {true});
  row("vector add, 1M", add, large);
  row("block sum, 1M", sum, large);
  row("tiled matmul, 256^3", matmul, job_of(256 * 256, {16, 16, 1}, 256, {true}));
}

}  // namespace

int main(int argc, char** argv) {
  const int repeats = argc > 1 ? std::max(1, std::atoi(argv[1])) : 15;
  const std::string word = argc > 2 ? argv[2] : "";
  const std::string worker = KERNELRL_BINARY_DIR "/libexec/kernelrl/kernelrl-machine-x86-64";
  if (__builtin_cpu_supports("x86-64-v3")) measure(worker + "-v3", repeats, word);
  measure(worker, repeats, word);
}
