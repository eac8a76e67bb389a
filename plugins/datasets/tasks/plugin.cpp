// The dataset `tasks`: hand-written tasks from TOML files, or right kernels for them as pairs.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <kernelrl/language.hpp>
#include <kernelrl/option_lists.hpp>
#include <kernelrl/sdk.hpp>
#include <string>
#include <utility>
#include <vector>

#include "plugins/datasets/tasks/task_files.hpp"
#include "plugins/files/file.hpp"

namespace {

namespace fs = std::filesystem;
using krl::TaskDefinition;

// Returns a kernel in the form that prompts ask for.
std::string answer_with(const std::string& kernel) {
  return "<KERNEL>\n" + std::string(krl::opening_fence(kernel)) + kernel +
         (kernel.back() == '\n' ? "" : "\n") + "```\n</KERNEL>";
}

class TaskFiles final : public krl::Dataset {
 public:
  std::string path, kernels;
  bool pairs = false;

  static constexpr auto config = krl::config(
      krl::opt("path", &TaskFiles::path,
               "a task file, or a folder of task files (*.toml, searched recursively)")
          .path()
          .required(),
      krl::opt("pairs", &TaskFiles::pairs,
               "give the tasks' naive kernels as pairs to warm up on, not the tasks"),
      krl::opt("kernels", &TaskFiles::kernels,
               "a folder of right kernels that are pairs as well: ID.cu or ID/*.cu; also .ptx, .py")
          .path(),
      krl::free_opt("tiers", KRL_ARRAY, "only tasks of these tiers, [0, 1]"),
      krl::free_opt("only", KRL_ARRAY, "only the tasks with these ids"),
      krl::free_opt("except", KRL_ARRAY, "all tasks but those with these ids"));

  void start(const krl::Config& config, const krl::Context&) override {
    krl::tasks::LoadedTasks loaded = krl::tasks::load_tasks(path);
    if (!loaded.errors.empty()) krl::invalid_argument(join(loaded.errors));
    std::vector<std::string> ids;
    for (const TaskDefinition& task : loaded.tasks) ids.push_back(task.id);

    const auto tiers = krl::list_option<std::int64_t>(config, "tiers");
    const auto only = krl::names_option(config, "only", ids);
    const auto except = krl::names_option(config, "except", ids);
    for (const TaskDefinition& task : loaded.tasks) {
      const bool wanted = (tiers.empty() || krl::contains(tiers, task.tier)) &&
                          (only.empty() || krl::contains(only, task.id)) &&
                          !krl::contains(except, task.id);
      if (wanted) add(task);
    }
    if (!kernels.empty() && kernels_found_ == 0)
      krl::invalid_argument("kernels: " + kernels + " has no kernel ID.cu or ID/*.cu of a task" +
                            (pairs ? "" : " to give; set pairs = true"));
    if (items_.empty())
      krl::invalid_argument(
          pairs ? "no task of " + path + " has a naive kernel, or one in the folder `kernels`"
                : "no task of " + path + " is left: look at tiers, only and except");
  }

  std::uint64_t size() override { return items_.size(); }

  void read(std::uint64_t index, const krl::DatasetSink& sink, const krl::Context&) override {
    if (index >= items_.size()) krl::invalid_argument("there is no task " + std::to_string(index));
    const Item& item = items_[index];
    krl_task task{};
    task.tier = static_cast<std::uint32_t>(item.task.tier);
    task.id = krl::to_c(item.task.id);
    task.title = krl::to_c(item.task.title);
    task.prompt = krl::to_c(item.task.prompt);
    task.definition_json = krl::to_c(item.definition);
    if (pairs) return sink.pair(task, item.answer);
    sink.task(task);
  }

 private:
  struct Item {
    TaskDefinition task;
    std::string definition;  // JSON text
    std::string answer;      // only for pairs
  };

  void add(const TaskDefinition& task) {
    Item item{task, krl::to_json_text(task), {}};
    if (!pairs) return items_.push_back(std::move(item));
    for (const std::string& kernel : kernels_for(task)) {
      item.answer = answer_with(kernel);
      items_.push_back(item);
    }
  }

  // The naive kernel, then those of the folder by their names.
  std::vector<std::string> kernels_for(const TaskDefinition& task) {
    std::vector<std::string> sources;
    if (!task.naive.empty()) sources.push_back(task.naive);
    if (kernels.empty()) return sources;
    std::vector<fs::path> files;
    std::error_code error;
    const auto add_each = [&](const fs::path& folder, const auto& wanted) {
      for (const auto& entry : fs::directory_iterator(folder, error)) {
        const std::string extension = entry.path().extension().string();
        const bool kernel = std::count(krl::kCandidateExtensions.begin(),
                                       krl::kCandidateExtensions.end(), extension) > 0;
        if (kernel && wanted(entry.path().stem().string())) files.push_back(entry.path());
      }
    };
    add_each(kernels, [&](const std::string& name) { return name == task.id; });
    add_each(fs::path(kernels) / task.id, [](const std::string&) { return true; });
    std::sort(files.begin(), files.end());
    for (const fs::path& file : files) {
      std::string source = krl::files::read_file_or_empty(file);
      if (source.empty()) continue;
      sources.push_back(std::move(source));
      ++kernels_found_;
    }
    return sources;
  }

  static std::string join(const std::vector<std::string>& lines) {
    std::string all;
    for (const std::string& line : lines) all += (all.empty() ? "" : "\n") + line;
    return all;
  }

  std::vector<Item> items_;
  std::size_t kernels_found_ = 0;  // in the folder
};

}  // namespace

KRL_PLUGIN("tasks", "0.1.0", krl::dataset<TaskFiles>("tasks", "Hand-written tasks from TOML files"))
