#include "service/report/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <kernelrl/evaluation_json.hpp>
#include <set>
#include <sstream>
#include <tuple>

#include "core/base/file_system.hpp"
#include "core/base/text.hpp"
#include "service/report/packed.hpp"
#include "service/runs/comparison.hpp"
#include "service/runs/kept_files.hpp"
#include "service/runs/solutions.hpp"

namespace krl::service {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Bytes of sample files that a page carries. Packed, answers take a tenth of that, and random letters
// all of it.
constexpr std::uintmax_t kMostSampleBytes = 100'000'000;

std::string dump(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

// The samples of a run: a table of what one looks for, and the samples themselves by iteration.
struct Samples {
  // Columns of equal length, in the order of the samples; `tasks` and `verdicts` have the names that
  // the columns of these names count through; `left_out` the number of samples by iteration that
  // were not kept.
  json table = json::object();
  std::map<int, std::string> iterations;    // packed lists
  std::map<std::string, std::size_t> best;  // rows of the answers with the best kernels, by task
};

// Returns the iterations whose sample files take up to `room` bytes: first those that found a best
// kernel, then the last one, then others evenly spread.
std::set<int> iterations_within(std::uintmax_t room, const RunLayout& run,
                                const std::vector<BestKernel>& best) {
  const std::vector<fs::path> paths = children_of(run.samples()).value_or(std::vector<fs::path>());
  std::vector<std::tuple<int, int, std::uintmax_t>> files;  // priority, iteration, bytes
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const std::string stem = paths[i].stem().string();  // iteration_000013
    const int iteration = std::atoi(stem.c_str() + std::min(stem.find('_') + 1, stem.size()));
    const bool found_best = std::ranges::count(best, iteration, &BestKernel::iteration) > 0;
    const int spread = std::countr_zero(paths.size() - 1 - i);  // highest for the last one
    std::error_code error;
    files.emplace_back(found_best ? spread + 100 : spread, iteration,
                       fs::file_size(paths[i], error));
  }
  std::ranges::sort(files, std::greater());
  std::set<int> chosen;
  for (const auto& [priority, iteration, bytes] : files) {
    if (bytes > room) continue;
    room -= bytes;
    chosen.insert(iteration);
  }
  return chosen;
}

// The number of a name in a list, to which it is added if it is new.
std::size_t number_of(const std::string& name, std::map<std::string, std::size_t>& numbers,
                      json& names) {
  const auto [known, is_new] = numbers.try_emplace(name, numbers.size());
  if (is_new) names.push_back(name);
  return known->second;
}

// True if the answer to the kernel's task contains the kernel.
bool contains(const json& sample, const BestKernel& kernel) {
  return sample.at("task") == kernel.task &&
         sample.at("answer").get_ref<const std::string&>().find(kernel.source) != std::string::npos;
}

Result<Samples> read_samples(const RunLayout& run, const std::vector<BestKernel>& best,
                             std::uintmax_t room) {
  constexpr const char* kCopied[] = {"turn",    "group",    "member", "score",
                                     "speedup", "roofline", "tokens"};
  constexpr const char* kRead[] = {"iteration", "task", "verdict", "tuned"};
  Samples samples;
  json &tasks = samples.table["tasks"] = json::array(),
       &verdicts = samples.table["verdicts"] = json::array();
  json& left_out = samples.table["left_out"] = json::object();
  std::map<std::string, std::size_t> task_numbers, verdict_numbers;
  json& columns = samples.table["columns"] = json::object();
  for (const char* name : kCopied) columns[name] = json::array();
  for (const char* name : kRead) columns[name] = json::array();
  const std::set<int> kept = iterations_within(room, run, best);
  json list = json::array();  // the samples of the last iteration so far
  const auto pack = [&] {
    if (!list.empty()) samples.iterations[columns["iteration"].back()] = packed(dump(list));
    list.clear();
  };
  const auto add = [&](const json& sample, int iteration) -> Status {
    if (!list.empty() && columns["iteration"].back() != iteration) pack();
    for (const char* name : kCopied) columns[name].push_back(sample.value(name, json()));
    columns["iteration"].push_back(iteration);
    columns["task"].push_back(number_of(sample.at("task"), task_numbers, tasks));
    columns["verdict"].push_back(number_of(sample.at("verdict"), verdict_numbers, verdicts));
    columns["tuned"].push_back(sample.contains("tuned_from"));
    for (const BestKernel& kernel : best)
      if (kernel.iteration == iteration && contains(sample, kernel))
        samples.best.emplace(kernel.task, columns["task"].size() - 1);
    if (kept.contains(iteration)) list.push_back(sample);
    return {};
  };
  const auto miss = [&](int iteration, std::int64_t count) {
    left_out[std::to_string(iteration)] = count;
  };
  KRL_TRY(each_sample(run, add, miss));
  pack();
  return samples;
}

// The lines of metrics.jsonl, as they are.
Result<json> read_metrics(const RunLayout& run) {
  json lines = json::array();
  std::error_code error;
  if (!fs::exists(run.metrics(), error)) return lines;
  KRL_ASSIGN(const std::string text, read_file(run.metrics()));
  std::istringstream all(text);
  for (std::string line; std::getline(all, line);) {
    json metrics = json::parse(line, nullptr, false);
    if (metrics.is_object()) lines.push_back(std::move(metrics));
  }
  return lines;
}

json kernel_json(const ArchivedKernel& kernel) {
  return {{"id", kernel.id},
          {"source", kernel.source},
          {"speedup", kernel.evaluation.speedup()},
          {"iteration", kernel.iteration},
          {"tuned", kernel.tuned},
          {"fresh", kernel.parents.empty()}};
}

json best_kernels(const ReportedRun& reported, const RunLayout& run,
                  const std::vector<BestKernel>& kernels,
                  const std::map<std::string, std::size_t>& rows) {
  std::map<std::string, json> lineages;
  if (const auto solutions = solutions_of(run)) {
    for (const Solution& solution : *solutions)
      for (const ArchivedKernel& kernel : solution.lineage)
        lineages[solution.task].push_back(kernel_json(kernel));
  }
  json list = json::array();
  for (const BestKernel& kernel : kernels) {
    const auto naive = reported.naive.find(kernel.task);
    const auto row = rows.find(kernel.task);
    Evaluation evaluation = kernel.evaluation;
    for (Case& c : evaluation.cases) c.samples_ns = c.baseline_samples_ns = {};
    list.push_back({{"task", kernel.task},
                    {"iteration", kernel.iteration},
                    {"source", kernel.source},
                    {"speedup", evaluation.speedup()},
                    {"roofline", evaluation.value("roofline").value_or(kUnknown)},
                    {"evaluation", evaluation},
                    {"naive", naive == reported.naive.end() ? json() : json(naive->second)},
                    {"row", row == rows.end() ? json() : json(row->second)},
                    {"lineage", lineages[kernel.task]}});
  }
  return list;
}

json comparison_json(const RunInfo& first, const RunInfo& second) {
  const Result<Comparison> compared = compare_runs({first.directory}, {second.directory});
  if (!compared) return {{"error", compared.error().message}};
  json tasks = json::array();
  for (const ComparedTask& task : compared->tasks)
    tasks.push_back({{"task", task.task},
                     {"passes", {task.pass_rate.first, task.pass_rate.second}},
                     {"speedups", {task.best_speedup.first, task.best_speedup.second}}});
  return {{"iterations", compared->iterations},
          {"tasks", std::move(tasks)},
          {"paired", compared->paired},
          {"few", compared->paired < kFewestPaired},
          {"ratio", compared->ratio},
          {"low", compared->low},
          {"high", compared->high}};
}

// The part of a page's data that is one run, and its samples.
struct RunData {
  json facts;
  Samples samples;
};

Result<RunData> data_of(const ReportedRun& reported, std::uintmax_t room) {
  const RunLayout run{reported.run.directory};
  RunData data;
  KRL_ASSIGN(const std::vector<BestKernel> best, read_best_kernels(run));
  KRL_ASSIGN(data.samples, read_samples(run, best, room));
  KRL_ASSIGN(json metrics, read_metrics(run));
  const json record = json::parse(read_file(run.record()).value_or("{}"), nullptr, false);
  data.facts = {{"name", reported.run.name},
                {"folder", run.root.string()},
                {"state", reported.run.state},
                {"message", reported.run.status.message},
                {"plan", read_file(run.plan()).value_or("")},
                {"starts", record.is_object() ? record.value("starts", json::array()) : json()},
                {"metrics", std::move(metrics)},
                {"best", best_kernels(reported, run, best, data.samples.best)},
                {"samples", std::move(data.samples.table)}};
  return data;
}

std::string block(const std::string& attributes, std::string_view text) {
  return fmt::format("<script type=\"text/plain\" {}>{}</script>\n", attributes, text);
}

}  // namespace

Status write_report(const std::vector<ReportedRun>& runs, const fs::path& file) {
  const fs::path parts = shared_files() / "report";
  KRL_ASSIGN(std::string page, read_file(parts / "page.html"));
  KRL_ASSIGN(const std::string style, read_file(parts / "page.css"));
  KRL_ASSIGN(const std::string script, read_file(parts / "page.js"));
  KRL_ASSIGN(const std::string charts, read_file(parts / "chart.min.js"));
  KRL_ASSIGN(const std::string colours, read_file(parts / "highlight.min.js"));
  json all = json::array();
  std::string samples;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    KRL_ASSIGN(RunData data, data_of(runs[i], kMostSampleBytes / runs.size()));
    if (i > 0) data.facts["comparison"] = comparison_json(runs[0].run, runs[i].run);
    all.push_back(std::move(data.facts));
    for (const auto& [iteration, list] : data.samples.iterations)
      samples += block(fmt::format("id=\"samples-{}-{}\"", i, iteration), list);
  }
  const std::pair<const char*, std::string> inserted[] = {
      {"<!-- style -->", "<style>\n" + style + "</style>"},
      {"<!-- data -->", block("id=\"libraries\"", packed(charts + "\n" + colours)) +
                            block("id=\"data\"", packed(dump({{"version", KERNELRL_VERSION},
                                                              {"runs", std::move(all)}}))) +
                            samples},
      {"<!-- script -->", "<script>\n" + script + "</script>"}};
  for (const auto& [place, text] : inserted)
    page.replace(page.find(place), std::string_view(place).size(), text);
  return explain_full_disk(write_atomically(real_file_system(), file, page), file.parent_path(),
                           page.size());
}

}  // namespace krl::service
