#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/plan_run.hpp"
#include "cli/policy_options.hpp"
#include "core/base/text.hpp"
#include "core/run/run_directory.hpp"
#include "service/plans/search_plan.hpp"
#include "service/runs/solutions.hpp"

namespace krl::cli {
namespace {

// Reads a number above 0 of an option, a whole one if its type is one, if it is there.
template <class Number>
Result<std::optional<Number>> limit_of(const CommandLine& line, const char* option) {
  if (!line.has(option)) return std::nullopt;
  const auto number = number_in<Number>(line.text(option));
  if (number && *number > 0 && std::isfinite(static_cast<double>(*number))) return number;
  return invalid(fmt::format("--{} takes a {}number above 0, not '{}'", option,
                             std::is_integral_v<Number> ? "whole " : "", line.text(option)));
}

Result<SearchChoice> choice_of(const CommandLine& line) {
  SearchChoice choice;
  choice.tasks = line.text("tasks");
  choice.plan = line.text_or("plan");
  choice.from = line.text_or("from");
  choice.policy = line.text_or("policy");
  choice.endpoint = line.text_or("endpoint");
  choice.model = line.text_or("model");
  choice.backend = line.text_or("backend");
  choice.name = line.text_or("name");
  choice.resume = line.has("resume");
  KRL_ASSIGN(choice.kernels, limit_of<std::int64_t>(line, "kernels"));
  KRL_ASSIGN(choice.tokens, limit_of<std::int64_t>(line, "tokens"));
  KRL_ASSIGN(choice.minutes, limit_of<double>(line, "minutes"));
  KRL_ASSIGN(choice.dollars, limit_of<double>(line, "dollars"));
  return choice;
}

std::string time_text(double ns) {
  return std::isfinite(ns) ? fmt::format("{:.1f} us", ns / 1000) : "-";
}

std::string factor_text(double factor) {
  return std::isfinite(factor) ? fmt::format("{:.2f}", factor) : "-";
}

double value_of(const Evaluation& evaluation, const char* name, std::size_t index) {
  for (const Value& value : evaluation.values)
    if (value.name == name && value.case_index == static_cast<std::int32_t>(index))
      return value.value;
  return kUnknown;
}

// The timed cases: the naive kernel, the best one and, where the backend timed it, PyTorch.
std::string table_of_times(const Evaluation& evaluation) {
  constexpr const char* kOverTorch = "reference_speedup";
  bool torch = false, shares = false;
  for (std::size_t i = 0; i < evaluation.cases.size(); ++i) {
    torch = torch || std::isfinite(value_of(evaluation, kOverTorch, i));
    shares = shares || std::isfinite(value_of(evaluation, "roofline", i));
  }
  std::vector<std::vector<std::string>> rows = {{"  CASE", "NAIVE", "BEST", "SPEEDUP"}};
  if (shares) rows[0].emplace_back("ROOFLINE");
  if (torch) rows[0].emplace_back("PYTORCH");
  for (std::size_t i = 0; i < evaluation.cases.size(); ++i) {
    const Case& c = evaluation.cases[i];
    if (!c.timed() || c.kind != CaseKind::kShown) continue;
    rows.push_back({"  " + one_line(c.label), time_text(c.baseline_ns), time_text(c.time_ns),
                    factor_text(c.speedup)});
    if (shares) rows.back().push_back(factor_text(value_of(evaluation, "roofline", i)));
    if (torch) rows.back().push_back(time_text(c.time_ns * value_of(evaluation, kOverTorch, i)));
  }
  return rows.size() > 1 ? columns(rows) : "";
}

const char* origin_of(const ArchivedKernel& kernel) {
  return kernel.tuned ? "tuned" : kernel.parents.empty() ? "fresh" : "edit";
}

// "  found    fresh a81b… 1.20 (iteration 1) → tuned 77c0… 2.31 (iteration 3), depth 1"
std::string line_of_lineage(const Solution& solution) {
  const auto& lineage = solution.lineage;
  if (lineage.empty())
    return fmt::format("  found    iteration {}; the archive has left it out\n",
                       solution.best->iteration);
  std::string text = lineage.front().parents.empty() ? "" : "… → ";
  for (std::size_t i = 0; i < lineage.size(); ++i) {
    const ArchivedKernel& kernel = lineage[i];
    text += fmt::format("{}{} {} {:.2f} (iteration {})", i == 0 ? "" : " → ", origin_of(kernel),
                        kernel.id.substr(0, 8), kernel.evaluation.speedup(), kernel.iteration);
  }
  return fmt::format("  found    {}; depth {}\n", text, lineage.back().depth);
}

std::string describe(const Solution& solution) {
  std::string text =
      fmt::format("\n{}: {} kernels judged", one_line(solution.task), solution.judged);
  if (!solution.best) return text + ", none of them right\n";
  const Evaluation& evaluation = solution.best->evaluation;
  const bool estimated =
      std::ranges::any_of(evaluation.cases, [](const Case& c) { return c.estimated; });
  text += fmt::format("; the best is {:.2f} times as fast as the naive kernel{}{}\n",
                      evaluation.speedup(), estimated ? ", estimated for " : " on ",
                      evaluation.device.empty() ? evaluation.backend : one_line(evaluation.device));
  return text + table_of_times(evaluation) + line_of_lineage(solution) + "  kernel   " +
         solution.file.string() + "\n";
}

// Shows what the run has found so far.
int show(const RunLayout& run, int code) {
  const auto solutions = solutions_of(run);
  if (!solutions && code == kDone) return report(solutions.error());
  if (!solutions) return code;
  for (const Solution& solution : *solutions) print(describe(solution));
  const bool any =
      std::ranges::any_of(*solutions, [](const Solution& s) { return s.best.has_value(); });
  return code == kDone && !any ? kNotRight : code;
}

void add_search_options(CommandLine& line) {
  line.option("plan", "PLAN", "policy, prompts and judge of this plan");
  line.option(
      "from", "RUN[@STEP]",
      "what this run has learned, and its plan if none is named; @best or a step of its checkpoints/");
  line.option("endpoint", "URL", "a server that answers as OpenAI's do, such as vLLM: http://…/v1");
  line.option("model", "NAME", "the model of the server");
  line.option("policy", "ID", "another policy; --set policy.KEY=VALUE sets its options");
  line.option("backend", "ID", "the backend that judges");
  line.option("kernels", "N", "end when so many distinct kernels of each task were judged");
  line.option("tokens", "N", "end when so many tokens were sampled");
  line.option("minutes", "M", "end after so many minutes");
  line.option("dollars", "D",
              "end when so many dollars are spent: --set stage.search.budget.answer_price=…");
  line.option("name", "RUN", "name of the run, by default solve_TASK");
  line.flag("resume", "continue the run");
  add_plan_options(line);
  line.positional({"tasks"});
}

}  // namespace

int solve_command(const Words& words) {
  CommandLine line(
      "kernelrl solve TASK|FOLDER [--endpoint URL [--model NAME] | --from RUN | --plan PLAN] …",
      "Searches for fast kernels with a policy that does not learn: samples, refinement over turns, an\n"
      "archive, and kernels with other numbers. TASK: a built-in task or a task file. The run is in\n"
      "runs/NAME/, as of a plan; with no limit it ends after 200 kernels of each task.\n");
  add_search_options(line);
  if (const auto over = line.parse(words)) return *over;
  if (!line.has("tasks")) return line.wrong("no task given: name one, a file or a folder");
  if (!line.has("plan") && !line.has("from") && !line.has("endpoint") && !line.has("policy"))
    return line.wrong("no policy given: use --endpoint, --from, --plan or --policy");
  auto choice = choice_of(line);
  if (!choice) return line.wrong(choice.error().message);
  auto options = plan_options(line);
  if (!options) return report(options.error());
  choice->options = *std::move(options);
  const auto loaded = load_search_plan(*std::move(choice));
  if (!loaded) return report(loaded.error());
  if (const auto served = serve_as_follower(*loaded)) return *served;
  const int code = run_and_show(*loaded, line.has("resume"));
  const RunLayout run{loaded->plan.run.directory};
  const auto status = read_status(run.status());
  const bool failed = code == kRunFailed && status && status->state == "failed";
  return code == kDone || code == kInterrupted || failed ? show(run, code) : code;
}

}  // namespace krl::cli
