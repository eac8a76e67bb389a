#include "cli/measurement_report.hpp"

#include <fmt/format.h>

#include "cli/console.hpp"
#include "cli/screen/headline.hpp"
#include "core/base/text.hpp"

namespace krl::cli {
namespace {

using Row = std::vector<std::string>;

std::string number(double value) { return fmt::format("{:.3f}", value); }

// "avg", "@4"
std::string heading(std::size_t k) { return k == 1 ? "avg" : fmt::format("@{}", k); }

Row row_of(const std::string& name, const AtK& figures) {
  Row row = {name};
  for (const auto& [k, value] : figures) row.push_back(number(value));
  return row;
}

std::string table_of_figures(const Figures& figures) {
  Row head = {""};
  for (const auto& [k, value] : figures.at("passed")) head.push_back(heading(k));
  std::vector<Row> rows = {std::move(head)};
  for (const char* name :
       {"passed", "score", "speedup", "fast_0.5", "fast_1", "fast_1.5", "fast_2", "roofline"}) {
    const auto figure = figures.find(name);
    if (figure != figures.end()) rows.push_back(row_of(name, figure->second));
  }
  return columns(rows);
}

// The columns of one episode and of the best of the most: passed, score, speedup.
Row short_heading(const Figures& figures) {
  const std::string best = fmt::format("@{}", figures.at("passed").rbegin()->first);
  Row row = {"PASSED", "PASSED" + best, "SCORE", "SCORE" + best};
  if (figures.contains("speedup")) {
    for (const auto& name : {"SPEEDUP" + std::string(), "SPEEDUP" + best, "FAST_1" + best})
      row.push_back(name);
  }
  return row;
}

// Shows dashes for speedups that these figures lack, if the set has them (`timed`).
Row short_row(const Figures& figures, bool timed) {
  const auto both = [](const AtK& at) {
    return Row{number(at.begin()->second), number(at.rbegin()->second)};
  };
  Row row = both(figures.at("passed"));
  for (const std::string& cell : both(figures.at("score"))) row.push_back(cell);
  if (!timed) return row;
  const bool has_speedup = figures.contains("speedup");
  Row speedup = has_speedup ? both(figures.at("speedup")) : Row{"-", "-"};
  speedup.push_back(has_speedup ? number(figures.at("fast_1").rbegin()->second) : "-");
  row.insert(row.end(), speedup.begin(), speedup.end());
  return row;
}

Row joined(Row row, const Row& more) {
  row.insert(row.end(), more.begin(), more.end());
  return row;
}

std::string table_of_turns(const Measurement& a) {
  std::vector<Row> rows = {
      joined({"TURN", "KERNELS", "COMPILE", "PASS", "SO FAR:"}, short_heading(a.figures))};
  for (std::size_t t = 0; t < a.turns.size(); ++t) {
    const TurnMeasurement& turn = a.turns[t];
    rows.push_back(
        joined({std::to_string(t + 1), std::to_string(turn.kernels.count),
                number(turn.kernels.compile_rate()), number(turn.kernels.pass_rate()), ""},
               short_row(turn.so_far, a.figures.contains("speedup"))));
  }
  return columns(rows);
}

std::string table_of_tasks(const Measurement& a) {
  std::vector<Row> rows = {joined({"TASK", "EPISODES"}, short_heading(a.figures))};
  for (const TaskMeasurement& task : a.tasks)
    rows.push_back(joined({task.id, std::to_string(task.episodes)},
                          short_row(task.figures, a.figures.contains("speedup"))));
  return columns(rows);
}

std::string first_line(const Measurement& a) {
  std::string line = fmt::format("{}: {} tasks, {} episodes", a.name, a.tasks.size(), a.episodes);
  if (a.wrong_on_holdout > 0)
    line += fmt::format(", {} kernels wrong only on hold-out shapes", a.wrong_on_holdout);
  if (a.figures.contains("speedup") && a.untimed > 0)
    line +=
        fmt::format(", {} episodes excluded from speedups: their kernels have no time", a.untimed);
  if (a.infra_errors > 0) {
    line += fmt::format(", {} turns not evaluated, the first because: {}", a.infra_errors,
                        one_line(a.first_error));
  }
  return line + "\n";
}

// "retrieval, means over the tasks: documents 0.94, excluded_own_task 2.25, …"
std::string line_of_retrieval(const Measurement& a) {
  std::string line;
  for (const auto& [name, value] : a.retrieval)
    line += fmt::format("{}{} {:.2f}", line.empty() ? "retrieval, means over the tasks: " : ", ",
                        name.substr(name.find('/') + 1), value);
  return line.empty() ? line : line + "\n";
}

}  // namespace

std::string describe_measurement(const Measurement& a) {
  if (a.tasks.empty()) return first_line(a) + "nothing could be evaluated\n";
  std::string text = first_line(a) + line_of_retrieval(a) + table_of_figures(a.figures);
  if (a.turns.size() > 1) text += "\n" + table_of_turns(a);
  return text + "\n" + table_of_tasks(a);
}

}  // namespace krl::cli
