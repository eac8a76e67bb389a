#include "service/kernels/answer_files.hpp"

#include <algorithm>
#include <kernelrl/language.hpp>
#include <regex>

#include "core/plan/source.hpp"

namespace krl::service {
namespace fs = std::filesystem;
namespace {

// Converts KernelBench's name of an answer file, "level_1_problem_23_sample_0_kernel.py", to the id
// that the import assigns to the problem.
std::string kernelbench_id(const std::string& stem) {
  static const std::regex name("level_(\\d+)_problem_(\\d+)_sample_.*");
  std::smatch found;
  if (!std::regex_match(stem, found, name)) return {};
  return "kernelbench/" + found[1].str() + "/" + found[2].str();
}

const Task* task_of(const fs::path& name, const std::vector<Task>& tasks) {
  const std::string stem = name.stem().string(), of_kernelbench = kernelbench_id(stem);
  if (tasks.size() == 1 && of_kernelbench.empty()) return &tasks.front();
  for (const std::string& id : {of_kernelbench, stem, name.parent_path().generic_string()}) {
    const auto found =
        std::find_if(tasks.begin(), tasks.end(), [&](const Task& task) { return task.id == id; });
    if (found != tasks.end()) return &*found;
  }
  return nullptr;
}

}  // namespace

AnswerFiles read_answer_files(const std::vector<std::string>& names, const std::vector<Task>& tasks,
                              const fs::path& folder) {
  AnswerFiles read;
  for (const std::string& name : names) {
    const Task* const task = task_of(name, tasks);
    if (task == nullptr) {
      read.left_out.push_back(name + ": left out, since none of the tasks has its name");
      continue;
    }
    const auto source = read_text_file(folder / name);
    read.answers.push_back(
        {name, task, source ? Result<std::string>(*source) : invalid(source.error()), {}, {}, {}});
  }
  return read;
}

Result<AnswerFiles> read_answer_folder(const fs::path& folder, const std::vector<Task>& tasks) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(folder, error)) {
    const std::string extension = entry.path().extension().string();
    if (std::ranges::find(kCandidateExtensions, extension) != kCandidateExtensions.end())
      names.push_back(fs::relative(entry.path(), folder).string());
  }
  if (error) return invalid(folder.string() + ": " + error.message());
  std::sort(names.begin(), names.end());
  return read_answer_files(names, tasks, folder);
}

}  // namespace krl::service
