// The dataset `samples`: the best answers of an earlier run as supervised pairs, for
// rejection-sampling fine-tuning.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <kernelrl/sdk.hpp>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "plugins/datasets/tasks/task_files.hpp"

namespace {

namespace fs = std::filesystem;

struct Answer {
  double score = 0, speedup = 0;
  std::vector<std::string> earlier;  // answers of the turns before it
  std::string text;
};

std::vector<fs::path> sample_files(const fs::path& run) {
  std::error_code error;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(run / "samples", error)) {
    if (entry.path().extension() == ".jsonl") files.push_back(entry.path());
  }
  if (files.empty()) krl::invalid_argument(run.string() + ": no samples/*.jsonl in this run");
  std::sort(files.begin(), files.end());
  return files;
}

// The correct answers in the files of a run, by task; each once for the same turns before it.
class CorrectAnswers {
 public:
  explicit CorrectAnswers(const fs::path& run) {
    for (const fs::path& file : sample_files(run)) read(file);
  }

  std::map<std::string, std::vector<Answer>> by_task;

 private:
  using Episode = std::pair<std::int64_t, std::int64_t>;  // group, member

  void read(const fs::path& file) {
    std::ifstream lines(file);
    std::map<Episode, std::vector<std::string>> episodes;
    std::size_t number = 0;
    for (std::string line; std::getline(lines, line);) {
      ++number;
      const auto record = nlohmann::json::parse(line, nullptr, false);
      if (record.is_object() && record.contains("left_out")) continue;
      try {
        add(record, &episodes);
      } catch (const nlohmann::json::exception& error) {
        krl::invalid_argument(file.string() + ":" + std::to_string(number) +
                              ": not a sample of a run: " + error.what());
      }
    }
    if (lines.bad()) krl::invalid_argument(file.string() + ": cannot be read");
  }

  // 0: not timed.
  static double speedup_of(const nlohmann::json& record) {
    const auto speedup = record.find("speedup");
    return speedup != record.end() && speedup->is_number() ? speedup->get<double>() : 0;
  }

  void add(const nlohmann::json& record, std::map<Episode, std::vector<std::string>>* episodes) {
    const std::string task = record.at("task"), text = record.at("answer");
    std::vector<std::string>& turns = (*episodes)[{record.at("group"), record.at("member")}];
    if (record.at("verdict") == "ok" && seen_.emplace(task, turns, text).second)
      by_task[task].push_back({record.at("score"), speedup_of(record), turns, text});
    turns.push_back(text);
  }

  std::set<std::tuple<std::string, std::vector<std::string>, std::string>> seen_;
};

class Samples final : public krl::Dataset {
 public:
  std::string run, tasks;
  double share = 0.25;

  static constexpr auto config = krl::config(
      krl::opt("run", &Samples::run, "the folder of a run, runs/NAME").path().required(),
      krl::opt(
          "tasks", &Samples::tasks,
          "the task file or folder of task files that the run was trained on; answers to other tasks are skipped")
          .path()
          .required(),
      krl::opt(
          "share", &Samples::share,
          "share of each task's distinct correct answers that become pairs: the ones with the highest scores, of equal ones the fastest, at least one")
          .range(0, 1));

  void start(const krl::Config&, const krl::Context&) override {
    krl::tasks::LoadedTasks loaded = krl::tasks::load_tasks(tasks);
    if (!loaded.errors.empty()) krl::invalid_argument(loaded.errors.front());
    CorrectAnswers correct(run);
    tasks_ = std::move(loaded.tasks);
    for (std::size_t t = 0; t < tasks_.size(); ++t) {
      definitions_.push_back(krl::to_json_text(tasks_[t]));
      for (Answer& answer : best_of(std::move(correct.by_task[tasks_[t].id])))
        pairs_.push_back({t, std::move(answer)});
    }
    if (pairs_.empty())
      krl::invalid_argument("no sample of " + run + " is a correct answer to a task of " + tasks);
  }

  std::uint64_t size() override { return pairs_.size(); }

  void read(std::uint64_t index, const krl::DatasetSink& sink, const krl::Context&) override {
    if (index >= size()) krl::invalid_argument("there is no pair " + std::to_string(index));
    const auto& [number, answer] = pairs_[index];
    const krl::TaskDefinition& definition = tasks_[number];
    krl_task task{};
    task.tier = static_cast<std::uint32_t>(definition.tier);
    task.id = krl::to_c(definition.id);
    task.title = krl::to_c(definition.title);
    task.prompt = krl::to_c(definition.prompt);
    task.definition_json = krl::to_c(definitions_[number]);
    sink.pair(task, answer.text, answer.earlier);
  }

 private:
  std::vector<Answer> best_of(std::vector<Answer> answers) const {
    std::stable_sort(answers.begin(), answers.end(), [](const Answer& a, const Answer& b) {
      return std::pair(a.score, a.speedup) > std::pair(b.score, b.speedup);
    });
    const double wanted = std::ceil(share * static_cast<double>(answers.size()));
    const auto kept = static_cast<std::size_t>(std::max(wanted, 1.0));
    if (kept < answers.size()) answers.resize(kept);
    return answers;
  }

  std::vector<krl::TaskDefinition> tasks_;
  std::vector<std::string> definitions_;               // definitions of tasks_, as JSON
  std::vector<std::pair<std::size_t, Answer>> pairs_;  // each with the index of its task
};

}  // namespace

KRL_PLUGIN("samples", "0.1.0",
           krl::dataset<Samples>("samples",
                                 "The best answers of an earlier run, as supervised pairs"))
