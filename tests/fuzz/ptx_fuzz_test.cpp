// Mutated PTX through the reader, the check of contents, the decoder and the machine: whatever it
// is, it ends, with a Module whose indices are valid or with a problem, and with a result.
//
//   KERNELRL_MUTANTS   how many; a few seconds' worth without
//   KERNELRL_SEED      of the mutants; the same seed gives the same
//   KERNELRL_MUTANT    the number of one alone, as a crash names it; its text is printed
//   KERNELRL_PTX       a folder of *.ptx to mutate besides those that are recorded in the tests
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <vector>

#include "plugins/backends/ptx/contents.hpp"
#include "plugins/backends/ptx/reached.hpp"
#include "plugins/backends/ptx/reader.hpp"
#include "tests/fuzz/ptx_mutator.hpp"
#ifdef KERNELRL_FUZZ_MACHINE
#include "plugins/backends/cpu/machine/job_runner.hpp"
#endif

namespace krl::testing {
namespace {

constexpr std::uint64_t kMutants = 20'000;
constexpr unsigned kSecondsForOne = 60;  // with sanitizers, on a busy machine

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

std::vector<std::string> texts_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".ptx") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<std::string> texts;
  for (const auto& file : files) {
    std::ifstream stream(file);
    texts.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
  }
  return texts;
}

std::vector<std::string> corpus() {
  auto texts = texts_in(KERNELRL_SOURCE_DIR "/tests/unit/backends/ptx/recorded");
  if (const char* const folder = std::getenv("KERNELRL_PTX")) {
    for (std::string& text : texts_in(folder)) texts.push_back(std::move(text));
  }
  return texts;
}

// Says which mutant it was before the process dies of it, or of hanging in it.
volatile std::uint64_t current_mutant = 0;
void name_mutant(int signal) {
  char text[80];
  const int length = std::snprintf(text, sizeof text, "signal %d in mutant %llu\n", signal,
                                   static_cast<unsigned long long>(current_mutant));
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text, static_cast<size_t>(length));
  std::signal(signal, SIG_DFL);
  std::raise(signal == SIGALRM ? SIGABRT : signal);
}

void name_mutants_that_crash() {
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM}) {
    std::signal(signal, name_mutant);
  }
}

// ---- that a Module keeps what module.hpp promises

std::size_t variables_of(const ptx::Module& module, const ptx::Function& function,
                         ptx::Operand::Scope scope) {
  switch (scope) {
    case ptx::Operand::kModule:
      return module.variables.size();
    case ptx::Operand::kParameters:
      return function.parameters.size();
    case ptx::Operand::kResults:
      return function.results.size();
    case ptx::Operand::kLocals:
      return function.locals.size();
  }
  return 0;
}

bool is_valid(const ptx::Module& module, const ptx::Function& function,
              const ptx::Operand& operand) {
  switch (operand.kind) {
    case ptx::Operand::kRegister:
      return operand.index < function.registers.size();
    case ptx::Operand::kVariable:
      return operand.index < variables_of(module, function, operand.scope);
    case ptx::Operand::kFunction:
      return operand.index < module.functions.size() &&
             module.functions[operand.index].name == operand.name;
    case ptx::Operand::kLabel:
      return operand.index <
             (operand.name.empty() ? function.body.size() : function.targets.size());
    case ptx::Operand::kPrototype:
      return operand.index < function.prototypes.size();
    case ptx::Operand::kAddress:
      return operand.elements.size() == 1;
    case ptx::Operand::kPair:
      return operand.elements.size() == 2;
    case ptx::Operand::kVector:
      return !operand.elements.empty();
    default:
      return true;
  }
}

bool is_valid(const ptx::Variable& variable) {
  const bool whole = variable.initial.empty() || variable.initial.size() == variable.bytes;
  return whole && std::all_of(variable.addresses.begin(), variable.addresses.end(),
                              [&](const ptx::Variable::Address& address) {
                                return address.at + 8 <= variable.initial.size();
                              });
}

bool is_valid(const ptx::Module& module, const ptx::Function& function) {
  bool valid = function.external == function.body.empty();
  for (const ptx::TargetList& list : function.targets) {
    for (const std::uint32_t label : list.labels) valid = valid && label < function.body.size();
  }
  for (const ptx::Instruction& instruction : function.body) {
    const auto check = [&](const ptx::Operand& operand) {
      valid = valid && is_valid(module, function, operand);
    };
    if (instruction.guarded) check(instruction.guard);
    for (const ptx::Operand& operand : instruction.operands) for_each_operand(operand, check);
  }
  return valid;
}

bool is_valid(const ptx::Module& module) {
  return std::all_of(module.variables.begin(), module.variables.end(),
                     [](const ptx::Variable& variable) { return is_valid(variable); }) &&
         std::all_of(module.functions.begin(), module.functions.end(),
                     [&](const ptx::Function& function) { return is_valid(module, function); });
}

// ---- one mutant

std::vector<std::string> entries_of(const ptx::Module& module) {
  std::vector<std::string> names;
  for (const ptx::Function& function : module.functions) {
    if (function.entry && !function.external) names.push_back(function.name);
  }
  return names;
}

#ifdef KERNELRL_FUZZ_MACHINE
using namespace cpu;

constexpr std::uint64_t kBufferBytes = 4096;

std::vector<Argument> arguments_for(const ptx::Function& entry) {
  std::vector<Argument> arguments;
  for (const ptx::Variable& parameter : entry.parameters) {
    if (parameter.bytes == 8) {
      arguments.emplace_back(BufferArgument{static_cast<std::uint32_t>(arguments.size() % 4)});
    } else if (parameter.type == ptx::Type::kF32) {
      arguments.emplace_back(1.5f);
    } else {
      arguments.emplace_back(std::int32_t{100});
    }
  }
  return arguments;
}

// Runs the first entry with two blocks of two warps, or of the four that wgmma takes.
std::string run(const ptx::Module& module, const std::string& text, std::uint64_t number) {
  const std::vector<std::string> entries = entries_of(module);
  if (entries.empty()) return "no entry";
  alignas(256) static std::byte arena[4 * kBufferBytes];
  std::fill(std::begin(arena), std::end(arena), std::byte{0x3c});
  Job job;
  job.kernels = {entries.front()};
  job.work_limit = 20'000;
  job.seed = number;
  Run once;
  for (std::uint64_t i = 0; i < 4; ++i) {
    once.buffers.push_back({"b" + std::to_string(i), i * kBufferBytes, kBufferBytes, 4, i != 0,
                            i == 0 ? Role::kInput : Role::kInOut});
  }
  const std::uint32_t threads = text.find("wgmma") == std::string::npos ? 64 : 128;
  once.launches.push_back(
      {0, {2, 1, 1}, {threads, 1, 1}, 0, arguments_for(*module.find(entries.front()))});
  once.count = number % 2 == 0;
  once.order = static_cast<Order>(number % 5);
  job.runs.push_back(std::move(once));
  const Result result = machine::run_job(job, text, arena);
  if (result.launch_error) return "launch error";
  if (result.fault) return std::string(name_of(result.fault->kind));
  return "ended";
}
#else
std::string run(const ptx::Module&, const std::string&, std::uint64_t) { return "read"; }
#endif

std::string outcome(const std::string& text, std::uint64_t number) {
  const ptx::ReadResult read = ptx::read_module(text, "kernel.cu");
  if (read.problem) {
    EXPECT_FALSE(read.problem->message.empty());
    constexpr const char* kKinds[] = {"malformed", "not read", "too large"};
    return kKinds[read.problem->kind];
  }
  EXPECT_TRUE(is_valid(read.module));
  check_contents(read.module, entries_of(read.module));
  return run(read.module, text, number);
}

constexpr std::uint64_t kParts = 2;  // of the mutants, which CTest runs at once

class PtxFuzz : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(PtxFuzz, EveryMutantEnds) {
  const PtxMutator mutator(corpus(), number_from("KERNELRL_SEED", 1));
  const bool alone = std::getenv("KERNELRL_MUTANT") != nullptr;
  const std::uint64_t first = number_from("KERNELRL_MUTANT", 0);
  const std::uint64_t mutants = alone ? 1 : number_from("KERNELRL_MUTANTS", kMutants);
  const auto start = std::chrono::steady_clock::now();
  name_mutants_that_crash();
  std::map<std::string, std::uint64_t> outcomes;
  for (std::uint64_t number = first; number < first + mutants && !HasFailure(); ++number) {
    if (number % kParts != GetParam()) continue;
    current_mutant = number;
    SCOPED_TRACE("mutant " + std::to_string(number));
    const std::string text = mutator.mutant(number);
    if (alone) std::cout << text << std::endl;
    ::alarm(kSecondsForOne);
    ++outcomes[outcome(text, number)];
    ::alarm(0);
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  for (const auto& [name, count] : outcomes) std::cout << name << ": " << count << "\n";
  std::cout << static_cast<double>(mutants) / kParts / seconds.count() << " mutants a second\n";
}
INSTANTIATE_TEST_SUITE_P(Parts, PtxFuzz, ::testing::Range(std::uint64_t{0}, kParts));

}  // namespace
}  // namespace krl::testing
