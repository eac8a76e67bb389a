#include <stdlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <unordered_map>

#include "cli/answer_evaluation.hpp"
#include "cli/console.hpp"
#include "cli/eval.hpp"
#include "cli/loaded_plan.hpp"
#include "cli/tasks.hpp"
#include "core/base/log.hpp"
#include "core/plugin/session.hpp"

namespace krl::cli {
namespace fs = std::filesystem;
namespace {

using Json = nlohmann::ordered_json;

// Counts warnings of one kind about rows, and shows the first ones.
class RowWarnings {
 public:
  void add(const std::string& text) {
    if (++count_ <= kShown) print_warning(text);
  }
  void end(const std::string& what) const {
    if (count_ > kShown) print_warning(std::to_string(count_) + " rows in all " + what);
  }

 private:
  static constexpr std::size_t kShown = 20;

  std::size_t count_ = 0;
};

// A row as an answer, without its task.
struct TableRow {
  std::string task;
  std::string source;
  std::optional<Contract> contract;
  Json record;
  Json claim;
};

// Whole numbers as integers: a column of them with gaps is often written as one of floats.
std::string text_in(const Json& columns, const char* name) {
  const auto found = columns.find(name);
  if (found == columns.end() || found->is_null()) return {};
  if (found->is_string()) return found->get<std::string>();
  constexpr double kExact = 1e15;
  const double number = found->is_number_float() ? found->get<double>() : kUnknown;
  const bool is_whole = std::trunc(number) == number && std::abs(number) < kExact;
  return is_whole ? std::to_string(static_cast<std::int64_t>(number)) : found->dump();
}

Json claim_in(const Json& columns, const char* correct, const char* speedup) {
  Json claim = Json::object();
  if (columns.contains(correct)) claim["correct"] = columns[correct];
  if (columns.contains(speedup)) claim["speedup"] = columns[speedup];
  return claim;
}

// ---- the AI CUDA Engineer Archive

// The columns of a row that are kept beside its verdict: all but the bulky output of other tools.
constexpr std::array kKept = {"Op_Name",
                              "Level_ID",
                              "Task_ID",
                              "Kernel_Name",
                              "CUDA_Runtime",
                              "PyTorch_Native_Runtime",
                              "CUDA_Code",
                              "PyTorch_Code_Module",
                              "PyTorch_Code_Functional",
                              "Correct",
                              "Max_Diff",
                              "CUDA_Speedup_Native",
                              "Error",
                              "NCU_Profile",
                              "PyTorch_Compile_Runtime",
                              "CUDA_Speedup_Compile"};

// An answer in Python, as KernelBench would run it: module_fn, which the row's Model calls with its
// inputs and weights, is the row's extension.
Result<std::string> answer_of_archive(const std::string& functional, const std::string& cuda) {
  const std::size_t model = ("\n" + functional).find("\nclass Model(");
  if (model == std::string::npos)
    return invalid("PyTorch_Code_Functional has no class Model that calls module_fn");
  if (cuda.empty()) return invalid("it has no CUDA_Code");
  if (cuda.find("'''") != std::string::npos) return invalid("CUDA_Code has ''' in it");
  return functional.substr(0, model) +
         "from torch.utils.cpp_extension import load_inline\n"
         "module_fn = load_inline(name=\"archive\", cpp_sources=\"\", cuda_sources=r'''\n" +
         cuda + "\n''').forward\n\n\n" + functional.substr(model) +
         "\n\nclass ModelNew(Model):\n    pass\n";
}

Result<TableRow> row_of_archive(const Json& columns) {
  KRL_ASSIGN(std::string source, answer_of_archive(text_in(columns, "PyTorch_Code_Functional"),
                                                   text_in(columns, "CUDA_Code")));
  TableRow row{"kernelbench/" + text_in(columns, "Level_ID") + "/" + text_in(columns, "Task_ID"),
               std::move(source), Contract::kHost, Json::object(),
               claim_in(columns, "Correct", "CUDA_Speedup_Native")};
  for (const char* name : kKept) {
    if (columns.contains(name)) row.record[name] = columns[name];
  }
  return row;
}

// ---- any table

Result<TableRow> row_of(const Json& columns) {
  if (columns.contains("PyTorch_Code_Functional")) return row_of_archive(columns);
  TableRow row{text_in(columns, "task"), text_in(columns, "source"), {}, columns, {}};
  if (row.task.empty() || row.source.empty())
    return invalid(
        "it has neither task and source nor the columns of the AI CUDA Engineer Archive");
  if (const std::string contract = text_in(columns, "contract"); !contract.empty()) {
    row.contract = named<Contract>(contract);
    if (!row.contract) return invalid("its contract '" + contract + "' is neither device nor host");
  }
  row.claim =
      columns.contains("claim") ? columns["claim"] : claim_in(columns, "correct", "speedup");
  return row;
}

// Opens the reader of the table. Parts that it cannot read, such as broken lines and row groups,
// are reported to the log, and that is shown.
Result<Dataset> open_dataset(const ComponentSettings& settings, const Components& components) {
  std::error_code error;
  std::string folder = (fs::temp_directory_path(error) / "kernelrl-eval-XXXXXX").string();
  if (error || ::mkdtemp(folder.data()) == nullptr)
    return failure(Code::kUnavailable, "cannot create the temporary folder " + folder +
                                           "; set TMPDIR to a writable folder");
  const fs::path file = fs::path(folder) / "log";
  const Status started = start_log(file, Severity::kWarning);
  auto dataset =
      started ? components.create<Dataset>(settings) : Result<Dataset>(failure(started.error()));
  stop_log();
  std::ifstream log(file);
  constexpr std::string_view kHead = "2026-11-25 23:59:59.999 warning ";
  for (std::string line; std::getline(log, line);)
    print_warning(line.substr(std::min(line.size(), kHead.size())));
  fs::remove_all(folder, error);
  return dataset;
}

// The rows of a table, one after the other. Rows without an answer are named, and counted.
class Rows {
 public:
  static Result<Rows> open(const CommandLine& line, const std::vector<Task>& tasks,
                           const Components& components) {
    std::error_code ignored;
    const std::string file = line.text("kernel");
    // A row's columns come as the metadata of a document, whose text does not matter.
    const ComponentSettings settings{"records",
                                     {{"path", fs::absolute(file, ignored).string()},
                                      {"text", fs::path(file).filename().string()},
                                      {"meta", {"*"}},
                                      {"where", line.texts("where")}},
                                     {}};
    KRL_ASSIGN(Dataset dataset, open_dataset(settings, components));
    KRL_ASSIGN(const std::uint64_t size, dataset.size());
    return Rows(std::move(dataset), size, tasks);
  }

  std::optional<AnswerToJudge> next() {
    while (at_ < size_) {
      const std::uint64_t index = at_++;
      auto items = dataset_.read(index);
      if (!items || items->documents.empty()) {
        leave_out("row " + std::to_string(index) + " of those chosen",
                  items ? items->first_lost : items.error().message);
        continue;
      }
      const Document& document = items->documents.front();
      const std::string name = fs::path(document.id).filename();
      auto row = row_of(Json::parse(document.meta_json, nullptr, false));
      if (!row) {
        leave_out(name, row.error().message);
      } else if (const auto task = tasks_.find(row->task); task == tasks_.end()) {
        leave_out(name, "none of the tasks is '" + row->task + "'");
      } else {
        return AnswerToJudge{name,          task->second,           std::move(row->source),
                             row->contract, std::move(row->record), read_claim(name, row->claim)};
      }
    }
    return std::nullopt;
  }

  void end_warnings() const {
    left_out_.end("are left out");
    unread_claims_.end("claim what cannot be read");
  }

 private:
  Rows(Dataset dataset, std::uint64_t size, const std::vector<Task>& tasks)
      : dataset_(std::move(dataset)), size_(size) {
    for (const Task& task : tasks) tasks_.emplace(task.id, &task);
  }

  void leave_out(const std::string& name, const std::string& why) {
    left_out_.add(name + ": left out, since " + why);
  }

  Claim read_claim(const std::string& name, const Json& json) {
    const Claim claim = claim_of(json);
    const auto is_lost = [&](const char* key, bool is_read) {
      return !is_read && json.contains(key) && !json[key].is_null();
    };
    if ((!json.is_object() && !json.is_null()) || is_lost("correct", claim.correct.has_value()) ||
        is_lost("speedup", claim.speedup.has_value()))
      unread_claims_.add(name + ": not all of its claim " + json.dump() +
                         " can be read: correct is a boolean, and speedup a number");
    return claim;
  }

  Dataset dataset_;
  std::uint64_t size_, at_ = 0;
  std::unordered_map<std::string, const Task*> tasks_;
  RowWarnings left_out_, unread_claims_;
};

}  // namespace

bool is_table(const std::string& file) {
  const fs::path extension = fs::path(file).extension();
  return extension == ".parquet" || extension == ".jsonl" || extension == ".ndjson";
}

int eval_table(const CommandLine& line) {
  const auto registry = load_registry(line);
  if (!registry) return report(registry.error());
  Session session(*registry, print_warning);
  Components& components = session.components();
  const auto tasks = tasks_named(line.text("task"), components);
  if (!tasks) return report(tasks.error());
  auto rows = Rows::open(line, *tasks, components);
  if (!rows) return report(rows.error());
  const auto evaluation = AnswerEvaluation::open(line, components);
  if (!evaluation) return report(evaluation.error());
  (*evaluation)->judge_once();
  const int code = (*evaluation)->run([&] { return rows->next(); });
  rows->end_warnings();
  return code;
}

}  // namespace krl::cli
