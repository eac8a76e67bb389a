#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <kernelrl/evaluation_json.hpp>
#include <map>
#include <memory>
#include <mutex>
#include <regex>
#include <set>

#include "cli/console.hpp"
#include "cli/eval.hpp"
#include "cli/kernel_judges.hpp"
#include "cli/loaded_plan.hpp"
#include "cli/tasks.hpp"
#include "core/base/file_system.hpp"
#include "core/base/hash.hpp"
#include "core/plan/source.hpp"
#include "core/plugin/active_call.hpp"
#include "core/plugin/components.hpp"

namespace krl::cli {
namespace fs = std::filesystem;
namespace {

using Json = nlohmann::ordered_json;

// A file of the folder, with the task that its name or its folder's name tells.
struct Answer {
  std::string name;  // relative to the folder
  const Task* task = nullptr;
  tl::expected<std::string, std::string> source;  // or why it cannot be read

  // Of all that decides its evaluation. `options`: of the call.
  std::string digest(const std::string& options) const {
    return sha256_hex(name + '\0' + source.value_or("") + '\0' + task->definition_json + '\0' +
                      options);
  }
};

// "level_1_problem_23_sample_0_kernel.py", as KernelBench names what models answered: the id that
// its import gives to the problem.
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

Result<std::vector<Answer>> answers_in(const fs::path& folder, const std::vector<Task>& tasks) {
  std::vector<Answer> answers;
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(folder, error)) {
    const std::string extension = entry.path().extension().string();
    if (extension != ".cu" && extension != ".py") continue;
    const fs::path name = fs::relative(entry.path(), folder);
    const Task* const task = task_of(name, tasks);
    if (task == nullptr) {
      print_warning(name.string() + ": left out, since none of the tasks has its name");
      continue;
    }
    answers.push_back({name.string(), task, read_text_file(entry.path())});
  }
  if (error) return invalid(folder.string() + ": " + error.message());
  std::sort(answers.begin(), answers.end(),
            [](const Answer& a, const Answer& b) { return a.name < b.name; });
  return answers;
}

// The lines of an earlier call, by what they are about.
std::map<std::string, Json> earlier_lines(const std::string& text) {
  std::map<std::string, Json> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    Json read = Json::parse(line, nullptr, false);
    if (!read.is_object() || !read.contains("digest")) continue;
    std::string digest = read["digest"].get<std::string>();
    lines.insert_or_assign(std::move(digest), std::move(read));
  }
  return lines;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// "NAME: ok, 1.25 x the baseline".
std::string headline(const Json& line) {
  if (line.contains("error")) return "not judged: " + first_line(line["error"]);
  const Json& evaluation = line["evaluation"];
  std::string text = evaluation["verdict"].get<std::string>();
  if (const std::string why = evaluation.value("why", ""); !why.empty())
    text += ": " + first_line(why);
  if (line.contains("kernelbench")) {
    const std::string other = describe(kernelbench_verdict_of(line["kernelbench"]));
    text += "; " + other.substr(0, other.size() - 1);
  }
  return text;
}

class FolderEvaluation {
 public:
  FolderEvaluation(KernelJudges& judges, std::string options, std::map<std::string, Json> earlier,
                   LineFile* output)
      : judges_(judges),
        options_(std::move(options)),
        earlier_(std::move(earlier)),
        output_(output) {}

  int run(const std::vector<Answer>& answers) {
    boost::asio::thread_pool pool(judges_.at_a_time());
    for (const Answer& answer : answers) {
      boost::asio::post(pool, [this, &answer] { evaluate(answer); });
    }
    pool.join();
    summarise(answers.size());
    return failed_ == 0 ? kDone : kRunFailed;
  }

 private:
  void evaluate(const Answer& answer) {
    const std::string digest = answer.digest(options_);
    if (const auto known = earlier_.find(digest); known != earlier_.end()) {
      const std::lock_guard lock(mutex_);
      return count(known->second);
    }
    Json line = {{"kernel", answer.name}, {"task", answer.task->id}, {"digest", digest}};
    const auto judged = answer.source ? judges_.judge(*answer.task, *answer.source)
                                      : Result<JudgedKernel>(invalid(answer.source.error()));
    if (judged) {
      line.update(to_json(*judged));
    } else {
      line["error"] = judged.error().message;
    }
    const std::lock_guard lock(mutex_);
    print(answer.name + ": " + headline(line) + "\n");
    count(line);
    // What was not judged is tried again by the next call.
    if (!judged || output_ == nullptr || write_failed_) return;
    if (const Status written =
            output_->append(line.dump(-1, ' ', false, Json::error_handler_t::replace));
        !written) {
      write_failed_ = true;
      report(written.error());
    }
  }

  void count(const Json& line) {
    failed_ += line.contains("error") ? 1 : 0;
    if (line.contains("kernelbench")) {
      kernelbench_.push_back(kernelbench_verdict_of(line["kernelbench"]));
    }
    ++verdicts_[line.contains("error") ? "not judged"
                                       : line["evaluation"]["verdict"].get<std::string>()];
  }

  void summarise(std::size_t answers) {
    std::vector<std::vector<std::string>> rows = {{"VERDICT", "KERNELS"}};
    for (const auto& [verdict, number] : verdicts_)
      rows.push_back({verdict, std::to_string(number)});
    rows.push_back({"all", std::to_string(answers)});
    print("\n" + columns(rows));
    if (!kernelbench_.empty()) print(describe_fast_p(kernelbench_));
  }

  KernelJudges& judges_;
  const std::string options_;
  const std::map<std::string, Json> earlier_;
  LineFile* const output_;  // may be null
  std::mutex mutex_;        // of what follows and of the output
  std::map<std::string, std::size_t> verdicts_;
  std::vector<KernelBenchVerdict> kernelbench_;
  std::size_t failed_ = 0;
  bool write_failed_ = false;
};

Result<std::vector<Task>> tasks_named(const std::string& name, Components& components) {
  std::error_code ignored;
  if (fs::is_directory(name, ignored)) return tasks_of(name, components);
  KRL_ASSIGN(Task task, find_task(name, components));
  return std::vector<Task>{std::move(task)};
}

// What of the command line decides an evaluation.
std::string decisive_options(const CommandLine& line) {
  std::string text;
  for (const char* name : {"backend", "sanitizer", "contract", "protocol"}) {
    text += (line.has(name) ? line.text(name) : "") + '\n';
  }
  for (const std::string& setting : line.texts("set")) text += setting + '\n';
  return text + (line.has("holdout") ? "holdout" : "");
}

}  // namespace

int eval_folder(const CommandLine& line) {
  const auto registry = load_registry(line);
  if (!registry) return report(registry.error());
  const CallScope scope;
  const CallWatch watch(print_warning);
  Components components(*registry, scope);
  const auto tasks = tasks_named(line.text("task"), components);
  if (!tasks) return report(tasks.error());
  const auto answers = answers_in(line.text("kernel"), *tasks);
  if (!answers) return report(answers.error());
  std::optional<LineFile> output;
  std::map<std::string, Json> earlier;
  if (line.has("output")) {
    const std::string text = read_file(line.text("output")).value_or("");
    earlier = earlier_lines(text);
    auto opened =
        LineFile::open(line.text("output"), size_of_whole_lines(text), real_file_system());
    if (!opened) return report(opened.error());
    output = *std::move(opened);
  }
  auto judges = KernelJudges::open(line, components);
  if (!judges) return report(judges.error());
  return FolderEvaluation(*judges, decisive_options(line), std::move(earlier),
                          output ? &*output : nullptr)
      .run(*answers);
}

}  // namespace krl::cli
