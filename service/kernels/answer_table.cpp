#include "service/kernels/answer_table.hpp"

#include <array>
#include <cmath>
#include <filesystem>

#include "core/plugin/components.hpp"

namespace krl::service {
namespace fs = std::filesystem;
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kShown = 20;  // warnings of one kind

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

}  // namespace

void AnswerTable::Warnings::add(const std::string& text, const Warn& warn) {
  if (++count <= kShown) warn(text);
}

void AnswerTable::Warnings::end(const std::string& what, const Warn& warn) const {
  if (count > kShown) warn(std::to_string(count) + " rows in all " + what);
}

bool AnswerTable::is_table(const std::string& file) {
  const fs::path extension = fs::path(file).extension();
  return extension == ".parquet" || extension == ".jsonl" || extension == ".ndjson";
}

AnswerTable::AnswerTable(const std::vector<Task>& tasks, Warn warn)
    : warn_(std::move(warn)),
      log_([this](Severity severity, const std::string& message) {
        if (severity >= Severity::kWarning) warn_(message);
      }),
      scope_{.log = &log_} {
  for (const Task& task : tasks) tasks_.emplace(task.id, &task);
}

Result<std::unique_ptr<AnswerTable>> AnswerTable::open(const std::string& file,
                                                       const std::vector<std::string>& where,
                                                       const std::vector<Task>& tasks,
                                                       const Registry& registry, Warn warn) {
  std::error_code ignored;
  // A row's columns come as the metadata of a document, whose text does not matter.
  const ComponentSettings settings{"records",
                                   {{"path", fs::absolute(file, ignored).string()},
                                    {"text", fs::path(file).filename().string()},
                                    {"meta", {"*"}},
                                    {"where", where}},
                                   {}};
  std::unique_ptr<AnswerTable> table(new AnswerTable(tasks, std::move(warn)));
  KRL_ASSIGN(table->dataset_, Components(registry, table->scope_).create<Dataset>(settings));
  KRL_ASSIGN(table->size_, table->dataset_->size());
  return table;
}

std::optional<AnswerToJudge> AnswerTable::next() {
  while (at_ < size_) {
    const std::uint64_t index = at_++;
    auto items = dataset_->read(index);
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

void AnswerTable::end_warnings() const {
  left_out_.end("are left out", warn_);
  unread_claims_.end("claim what cannot be read", warn_);
}

void AnswerTable::leave_out(const std::string& name, const std::string& why) {
  left_out_.add(name + ": left out, since " + why, warn_);
}

Claim AnswerTable::read_claim(const std::string& name, const Json& json) {
  const Claim claim = claim_of(json);
  const auto is_lost = [&](const char* key, bool is_read) {
    return !is_read && json.contains(key) && !json[key].is_null();
  };
  if ((!json.is_object() && !json.is_null()) || is_lost("correct", claim.correct.has_value()) ||
      is_lost("speedup", claim.speedup.has_value()))
    unread_claims_.add(name + ": not all of its claim " + json.dump() +
                           " can be read: correct is a boolean, and speedup a number",
                       warn_);
  return claim;
}

}  // namespace krl::service
