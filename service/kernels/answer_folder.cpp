#include "service/kernels/answer_folder.hpp"

#include <algorithm>
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

Result<AnswerFolder> read_answer_folder(const fs::path& folder, const std::vector<Task>& tasks) {
  AnswerFolder read;
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(folder, error)) {
    const std::string extension = entry.path().extension().string();
    if (extension != ".cu" && extension != ".py") continue;
    const fs::path name = fs::relative(entry.path(), folder);
    const Task* const task = task_of(name, tasks);
    if (task == nullptr) {
      read.left_out.push_back(name.string() + ": left out, since none of the tasks has its name");
      continue;
    }
    const auto source = read_text_file(entry.path());
    read.answers.push_back({name.string(),
                            task,
                            source ? Result<std::string>(*source) : invalid(source.error()),
                            {},
                            {},
                            {}});
  }
  if (error) return invalid(folder.string() + ": " + error.message());
  std::sort(read.answers.begin(), read.answers.end(),
            [](const AnswerToJudge& a, const AnswerToJudge& b) { return a.name < b.name; });
  return read;
}

}  // namespace krl::service
