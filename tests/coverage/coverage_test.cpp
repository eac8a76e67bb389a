// How much of CUDA the machine executes: kernels of many kinds, compiled by NVRTC, through the
// reader of PTX, the check of contents and the decoder. What is refused is printed by its name.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <set>

#include "plugins/backends/compiled/compiled_module.hpp"
#include "plugins/backends/cpu/machine/decode/decoder.hpp"
#include "plugins/backends/cpu/machine/fault.hpp"
#include "plugins/backends/nvrtc/nvrtc_compiler.hpp"
#include "plugins/backends/nvrtc/nvrtc_library.hpp"
#include "plugins/backends/ptx/contents.hpp"
#include "plugins/backends/ptx/reader.hpp"
#include "plugins/datasets/templates/generator.hpp"
#include "plugins/files/file.hpp"
#include "tests/unit/backends/evaluator/cpu_fixture.hpp"

namespace krl::testing {
using namespace compiled;
using namespace nvrtc;
namespace {

namespace fs = std::filesystem;

// By a name for people.
using Sources = std::map<std::string, std::string>;

Sources files_in(const fs::path& folder) {
  Sources sources;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const fs::path& file = entry.path();
    if (file.extension() == ".cu")
      sources[file.filename()] = files::read_file_or_empty(file.string());
  }
  return sources;
}

// Those that every compiler takes, as their first lines say.
Sources right_kernels() {
  Sources sources = files_in(KERNELRL_SOURCE_DIR "/tests/hostile/kernels/right");
  for (auto it = sources.begin(); it != sources.end();) {
    const std::string first = it->second.substr(0, it->second.find('\n'));
    it = first.find("compile_error") == std::string::npos ? std::next(it) : sources.erase(it);
  }
  return sources;
}

Sources naive_kernels() {
  Sources sources;
  for (const auto& [id, task] : all_tasks()) sources[id] = naive_of(task);
  return sources;
}

// The code of some pairs of the dataset.
Sources template_kernels() {
  constexpr std::uint64_t kPairs = 60;
  const templates::Generator generator(templates::all_families(), {});
  Sources sources;
  for (std::uint64_t i = 0; i < kPairs; ++i) {
    const templates::Pair pair = generator.generate(i);
    const std::size_t fence = pair.answer.find("```");
    const std::size_t begin = pair.answer.find('\n', fence) + 1;
    sources[pair.family + " " + pair.variant + " " + std::to_string(i)] =
        pair.answer.substr(begin, pair.answer.find("```", begin) - begin);
  }
  return sources;
}

// The kernels that the launches of a source name: "scale<float, 4>".
std::vector<std::string> launched_kernels(const std::string& source) {
  constexpr std::string_view kLaunch = "\n// @launch ";
  std::vector<std::string> names;
  for (std::size_t at = 0; (at = source.find(kLaunch, at)) != std::string::npos;) {
    at += kLaunch.size();
    const std::string name = source.substr(at, source.find("<<<", at) - at);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

CudaCompiler compiler() {
  const std::string path = KERNELRL_BINARY_DIR "/lib/kernelrl/plugins/nvrtc.krl.so";
  void* const self = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  const InstalledFiles files(::dlsym(self, "krl_plugin_v1"), "the test");
  CompileSettings settings;
  settings.arch = "sm_90";
  return nvrtc_compiler(settings, files);
}

// Kernels, and those of them that are refused, with the reason.
struct Coverage {
  int kernels = 0;
  std::map<std::string, std::set<std::string>> refused;

  double share() const {
    std::size_t left_out = 0;
    for (const auto& [why, names] : refused) left_out += names.size();
    return 1 - static_cast<double>(left_out) / std::max(1, kernels);
  }
};

// Why the machine would not run one kernel; empty if it would.
std::string refusal(const ptx::Module& module, const std::string& kernel) {
  const auto problems = check_contents(module, {kernel});
  if (!problems.empty()) return problems.front().message;
  try {
    machine::decode(module, {kernel});
  } catch (const machine::Unsupported& problem) {
    return problem.name;
  }
  return {};
}

void add_source(const CudaCompiler& nvrtc, const std::string& name, const std::string& source,
                Coverage* coverage) {
  const CompileOutput output = nvrtc.compile(source, launched_kernels(source), {});
  ASSERT_EQ(output.end, CompileOutput::kCompiled) << name << ": " << output.why << output.log;
  const ptx::ReadResult code = ptx::read_module(module_from_bytes(output.module)->ptx, "kernel.cu");
  if (code.problem) {
    ++coverage->kernels;
    coverage->refused[code.problem->message].insert(name);
    return;
  }
  for (const ptx::Function& function : code.module.functions) {
    if (!function.entry) continue;
    ++coverage->kernels;
    const std::string why = refusal(code.module, function.name);
    if (!why.empty()) coverage->refused[why].insert(name + ": " + function.name);
  }
}

void expect_coverage(const Sources& sources, double least) {
  try {
    find_nvrtc({}, KERNELRL_PYTHON_DEPS);
  } catch (const Failure& failure) {
    GTEST_SKIP() << "skipped: " << failure.what();
  }
  ASSERT_FALSE(sources.empty());
  static const CudaCompiler nvrtc = compiler();
  Coverage coverage;
  for (const auto& [name, source] : sources) add_source(nvrtc, name, source, &coverage);
  for (const auto& [why, names] : coverage.refused) {
    std::cout << why << "\n";
    for (const std::string& name : names) std::cout << "    " << name << "\n";
  }
  std::cout << coverage.kernels << " kernels, " << 100 * coverage.share() << " % executed\n";
  EXPECT_GE(coverage.share(), least);
}

TEST(Coverage, NaiveKernelsOfTasks) { expect_coverage(naive_kernels(), 1); }

TEST(Coverage, KernelsOfTemplates) { expect_coverage(template_kernels(), 1); }

TEST(Coverage, RightKernelsInUnusualStyle) { expect_coverage(right_kernels(), 0.97); }

TEST(Coverage, KernelsAsPeopleWriteThem) {
  expect_coverage(files_in(KERNELRL_SOURCE_DIR "/tests/coverage/kernels"), 0.97);
}

}  // namespace
}  // namespace krl::testing
