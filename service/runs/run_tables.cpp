#include "service/runs/run_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <kernelrl/evaluation_json.hpp>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/file_system.hpp"
#include "core/run/ledger.hpp"
#include "service/runs/kept_files.hpp"

namespace krl::service {
namespace fs = std::filesystem;
namespace {

using nlohmann::json;

enum class ColumnType { kText, kInteger, kNumber, kBool };

struct Column {
  const char* name;
  ColumnType type;
};

struct RunTable {
  using Put = std::function<Status(const json& row)>;

  const char* name;  // name of its file
  std::span<const Column> columns;
  // Passes every row in turn, an object with these columns, null for an unknown value. An
  // unreadable part of the run is an error that names the file.
  Status (*read)(const RunLayout& run, const Put& put);
};

json number_or_null(std::optional<double> value) {
  return value && std::isfinite(*value) ? json(*value) : json();
}

// ---- samples

constexpr std::array kSampleColumns = {
    Column{"task_id", ColumnType::kText},    Column{"iteration", ColumnType::kInteger},
    Column{"group", ColumnType::kInteger},   Column{"member", ColumnType::kInteger},
    Column{"turn", ColumnType::kInteger},    Column{"prompt", ColumnType::kText},
    Column{"completion", ColumnType::kText}, Column{"n_tokens", ColumnType::kInteger},
    Column{"reward", ColumnType::kNumber},   Column{"verdict", ColumnType::kText},
    Column{"correct", ColumnType::kBool},    Column{"speedup", ColumnType::kNumber},
    Column{"roofline", ColumnType::kNumber}, Column{"error", ColumnType::kText}};

std::string joined(const json& texts) {
  std::string all;
  for (const json& text : texts)
    all += (all.empty() ? "" : "\n\n") + text.get_ref<const std::string&>();
  return all;
}

json sample_row(const json& record, int iteration) {
  const std::string verdict = record.at("verdict");
  return {{"task_id", record.at("task")},
          {"iteration", iteration},
          {"group", record.at("group")},
          {"member", record.at("member")},
          {"turn", record.at("turn")},
          {"prompt", joined(record.at("prompt"))},
          {"completion", record.at("answer")},
          {"n_tokens", record.at("tokens")},
          {"reward", record.at("score")},
          {"verdict", verdict},
          {"correct", verdict == name_of(Verdict::kOk)},
          {"speedup", record.at("speedup")},
          {"roofline", record.at("roofline")},
          {"error", record.at("why")}};
}

Status read_samples(const RunLayout& run, const RunTable::Put& put) {
  return each_sample(
      run, [&](const json& record, int iteration) { return put(sample_row(record, iteration)); });
}

// ---- evaluations

constexpr std::array kEvaluationColumns = {
    Column{"task_id", ColumnType::kText},      Column{"iteration", ColumnType::kInteger},
    Column{"kernel_hash", ColumnType::kText},  Column{"verdict", ColumnType::kText},
    Column{"correct", ColumnType::kBool},      Column{"speedup", ColumnType::kNumber},
    Column{"runtime_ms", ColumnType::kNumber}, Column{"error", ColumnType::kText},
    Column{"backend", ColumnType::kText},      Column{"device", ColumnType::kText},
    Column{"evaluation", ColumnType::kText}};

// Geometric mean of a time over the timed cases, in milliseconds; NaN = none was timed.
double milliseconds(const Evaluation& evaluation, double Case::*time_ns) {
  double log_sum = 0;
  int n = 0;
  for (const Case& c : evaluation.cases) {
    if (c.kind == CaseKind::kShown && c.timed()) log_sum += std::log(c.*time_ns / 1e6), ++n;
  }
  return n == 0 ? kUnknown : std::exp(log_sum / n);
}

Status read_evaluations(const RunLayout& run, const RunTable::Put& put) {
  std::error_code error;
  if (!fs::exists(run.ledger(), error)) return {};
  Status status;
  KRL_TRY(read_ledger(run.ledger(), [&](const LedgerRecord& record) {
    const Evaluation& e = record.evaluation;
    status = put({{"task_id", record.task},
                  {"iteration", record.round},
                  {"kernel_hash", record.key},
                  {"verdict", name_of(e.verdict)},
                  {"correct", e.passed()},
                  {"speedup", number_or_null(e.speedup())},
                  {"runtime_ms", number_or_null(milliseconds(e, &Case::time_ns))},
                  {"error", e.why},
                  {"backend", e.backend},
                  {"device", e.device},
                  {"evaluation", to_json_text(e)}});
    return static_cast<bool>(status);
  }));
  return status;
}

// ---- the best kernels, in the columns of the AI CUDA Engineer Archive, and three more

constexpr std::array kKernelColumns = {Column{"Op_Name", ColumnType::kText},
                                       Column{"Kernel_Name", ColumnType::kText},
                                       Column{"CUDA_Runtime", ColumnType::kNumber},
                                       Column{"PyTorch_Native_Runtime", ColumnType::kNumber},
                                       Column{"CUDA_Speedup_Native", ColumnType::kNumber},
                                       Column{"CUDA_Code", ColumnType::kText},
                                       Column{"Correct", ColumnType::kBool},
                                       Column{"Max_Diff", ColumnType::kNumber},
                                       Column{"Error", ColumnType::kText},
                                       Column{"Naive_Runtime", ColumnType::kNumber},
                                       Column{"CUDA_Speedup_Naive", ColumnType::kNumber},
                                       Column{"Device", ColumnType::kText}};

json kernel_row(const BestKernel& kernel) {
  const Evaluation& e = kernel.evaluation;
  const double runtime = milliseconds(e, &Case::time_ns);
  const std::optional<double> over_torch = e.value("reference_speedup");
  double largest = 0;
  for (const Case& c : e.cases) largest = std::fmax(largest, c.max_abs_error);
  return {{"Op_Name", kernel.task},
          {"Kernel_Name", fmt::format("{}_iteration_{}", kernel.task, kernel.iteration)},
          {"CUDA_Runtime", number_or_null(runtime)},
          {"PyTorch_Native_Runtime", over_torch ? number_or_null(runtime * *over_torch) : json()},
          {"CUDA_Speedup_Native", number_or_null(over_torch)},
          {"CUDA_Code", kernel.source},
          {"Correct", e.passed()},
          {"Max_Diff", largest},
          {"Error", e.why},
          {"Naive_Runtime", number_or_null(milliseconds(e, &Case::baseline_ns))},
          {"CUDA_Speedup_Naive", number_or_null(e.speedup())},
          {"Device", e.device}};
}

Status read_kernels(const RunLayout& run, const RunTable::Put& put) {
  KRL_ASSIGN(const std::vector<BestKernel> kernels, read_best_kernels(run));
  for (const BestKernel& kernel : kernels) KRL_TRY(put(kernel_row(kernel)));
  return {};
}

// ---- files

Error cannot_write(const fs::path& file) {
  return Error{Code::kInternal, file.string() + ": cannot be written: " + std::strerror(errno)};
}

// The number of rows.
Result<std::size_t> write_json_lines(const RunTable& table, const RunLayout& run,
                                     const fs::path& file) {
  std::ofstream out(file);
  std::size_t rows = 0;
  KRL_TRY(table.read(run, [&](const json& row) -> Status {
    out << row.dump(-1, ' ', false, json::error_handler_t::replace) << '\n';
    if (!out) return failure(cannot_write(file));
    ++rows;
    return {};
  }));
  if (!out.flush()) return failure(cannot_write(file));
  return rows;
}

std::string_view name_of_type(ColumnType type) {
  static constexpr std::array<std::string_view, 4> kNames = {"text", "integer", "number", "bool"};
  return kNames[static_cast<std::size_t>(type)];
}

// Leaves it to kernelrl-parquet, so that this program needs no Arrow.
Status to_parquet(const RunTable& table, const fs::path& lines, const fs::path& file,
                  const ChildOptions& child) {
  std::vector<std::string> words = {installed_program("kernelrl-parquet"), lines.string(),
                                    file.string()};
  for (const Column& column : table.columns)
    words.push_back(fmt::format("{}:{}", column.name, name_of_type(column.type)));
  const auto code = run_program(std::move(words), child);
  if (!code) {
    return failure(
        code.error().code,
        code.error().message + "; run scripts/setup.sh and build again, or write JSON lines");
  }
  if (*code == 0) return {};
  return failure(Code::kInternal, file.string() + ": kernelrl-parquet failed, see above");
}

constexpr std::array<RunTable, 3> kTables = {{{"samples", kSampleColumns, read_samples},
                                              {"evaluations", kEvaluationColumns, read_evaluations},
                                              {"kernels", kKernelColumns, read_kernels}}};

}  // namespace

Result<std::string> write_run_tables(const RunLayout& run, const fs::path& folder, bool parquet,
                                     const ChildOptions& child) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return invalid(folder.string() + ": cannot be made: " + error.message());
  std::string text;
  for (const RunTable& table : kTables) {
    const fs::path lines = folder / fmt::format("{}.jsonl.partial", table.name);
    const fs::path file = folder / fmt::format("{}.{}", table.name, parquet ? "parquet" : "jsonl");
    KRL_ASSIGN(const std::size_t rows, write_json_lines(table, run, lines));
    if (parquet) {
      const fs::path partial = file.string() + ".partial";
      KRL_TRY(to_parquet(table, lines, partial, child));
      fs::remove(lines, error);
      fs::rename(partial, file, error);
    } else {
      fs::rename(lines, file, error);
    }
    if (error) return failure(Code::kInternal, file.string() + ": " + error.message());
    text += fmt::format("{}: {} rows\n", file.string(), rows);
  }
  return text;
}

}  // namespace krl::service
