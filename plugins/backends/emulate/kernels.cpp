#include "plugins/backends/emulate/kernels.hpp"

#include <algorithm>
#include <filesystem>
#include <kernelrl/python_source.hpp>
#include <kernelrl/values.hpp>
#include <utility>

#include "plugins/backends/nvcc/nvcc_compiler.hpp"
#include "plugins/backends/nvrtc/nvrtc_compiler.hpp"
#include "plugins/backends/triton/triton_front_end.hpp"
#include "plugins/files/file.hpp"

namespace krl::emulate {
using namespace evaluator;
namespace {

constexpr std::size_t kMost = 32;  // launches and buffers, as a candidate may have

bool is_launch(const LineComment& comment) {
  const std::size_t at = comment.text.find_first_not_of(" \t");
  return comment.starts_line && at != std::string::npos &&
         comment.text.compare(at, 7, "@launch") == 0 &&
         (at + 7 == comment.text.size() || comment.text[at + 7] == ' ' ||
          comment.text[at + 7] == '\t');
}

// A directive that the file does not have. Launches of a call are on the lines -1, -2, …
LineComment directive(std::string text, int line) {
  LineComment comment;
  comment.text = std::move(text);
  comment.line = line;
  comment.starts_line = true;
  return comment;
}

// True of a text with the word `main`, or with launches.
bool has_host_code(const ScannedSource& source) {
  const auto& tokens = source.tokens;
  for (std::size_t t = 0; t + 2 < tokens.size(); ++t) {
    const bool launch = tokens[t].is("<") && tokens[t + 1].is("<") && tokens[t + 2].is("<");
    if (launch && tokens[t].column + 2 == tokens[t + 2].column) return true;
  }
  return source.mentions("main");
}

std::string names_of(const std::vector<KernelHead>& kernels) {
  std::string names;
  for (const KernelHead& kernel : kernels) names += (names.empty() ? "" : ", ") + kernel.name;
  return names.empty() ? "none was found" : "it has " + names;
}

std::string example(const KernelFile& file) {
  return file.scanned.language == Language::kTriton
             ? "--launch 'kernel[(grid,)](x, y, n, BLOCK=128)'"
             : "--launch 'kernel<<<grid, block>>>(x, y, n)'";
}

}  // namespace

KernelFile read_kernel_file(const std::string& path) {
  KernelFile file;
  if (!std::filesystem::is_regular_file(path) && std::filesystem::exists(path))
    invalid_argument(path + " is no regular file");
  file.path = path;
  file.source = files::read_file(path);
  if (file.source.find('\0') != std::string::npos) invalid_argument(path + " is no text");
  file.scanned = scan_candidate(file.source);
  return file;
}

void add_directives(const std::vector<Buffer>& buffers, const std::vector<std::string>& launches,
                    KernelFile* file) {
  std::vector<LineComment>& comments = file->scanned.comments;
  if (!launches.empty()) std::erase_if(comments, is_launch);
  const bool triton = file->scanned.language == Language::kTriton;
  if (launches.size() > kMost || buffers.size() > kMost)
    invalid_argument("more than " + std::to_string(kMost) + " launches or buffers");
  std::vector<LineComment> added;
  for (const Buffer& buffer : buffers) {
    const ElementType& type = *buffer.contents.type;
    added.push_back(directive("@scratch " + buffer.name + " " +
                                  std::string(triton ? type.name : type.cuda) + "[" +
                                  std::to_string(buffer.elements) + "]",
                              0));
  }
  for (const std::string& launch : launches)
    added.push_back(
        directive("@launch " + launch, -1 - static_cast<int>(&launch - launches.data())));
  comments.insert(comments.begin(), added.begin(), added.end());
  if (std::any_of(comments.begin(), comments.end(), is_launch)) return;
  const auto kernels = triton ? find_triton_kernels(file->scanned) : find_kernels(file->scanned);
  invalid_argument("which kernel of " + file->path + " shall run (" + names_of(kernels) +
                   ")? Say so: " + example(*file));
}

PreparedTask task_of(const std::vector<ResolvedScalar>& values) {
  PreparedTask task;
  task.definition.id = "emulate";
  ResolvedCase& only = task.cases.emplace_back();
  only.scalars = values;
  for (const ResolvedScalar& value : values)
    task.definition.scalars.push_back({value.name, value.dtype, ""});
  task.n_cases = 1;
  return task;
}

CudaCompiler compiler_for(const KernelFile& file, const std::string& name,
                          const CompileSettings& settings, const cpu::Installation& installation) {
  const bool is_program = file.scanned.language == Language::kCuda && has_host_code(file.scanned);
  if (name == "nvcc" || (name == "auto" && is_program))
    return nvcc::nvcc_compiler(settings, installation.files);
  CudaCompiler compiler = nvrtc::nvrtc_compiler(settings, installation.files);
  if (file.scanned.language == Language::kTriton)
    compiler.add(Language::kTriton, triton::triton_front_end(settings, installation.files));
  return compiler;
}

void check_launches(const KernelFile& file, const std::vector<std::string>& launches,
                    const PreparedTask& task, const LaunchLimits& limits) {
  const auto schedule = read_schedule(file.scanned, task.definition, task.cases, limits);
  if (schedule) return;
  const SourceError& error = schedule.error();
  if (error.line >= 0) invalid_argument(file.path + ": " + described(error));
  const bool is_real = error.message.starts_with("expected an integer");
  // The column behind "@launch ".
  invalid_argument("--launch '" + launches[static_cast<std::size_t>(-1 - error.line)] +
                   "': column " + std::to_string(std::max(1, error.column - 8)) + ": " +
                   error.message + (is_real ? "; a real number needs a name: --value a=2.5" : ""));
}

}  // namespace krl::emulate
