#include "tests/unit/core/run/toy_run.hpp"

#include "core/base/clock.hpp"
#include "core/base/hash.hpp"
#include "core/run/run_files.hpp"
#include "tests/unit/core/run/timed_evaluation.hpp"

namespace krl::test {
using namespace core;

namespace {

constexpr int kEvaluations = 3;

std::string key_of(std::uint64_t policy, int evaluation) {
  return sha256_hex(std::to_string(policy % 5) + "/" + std::to_string(evaluation));
}

Status evaluate(int iteration, std::uint64_t policy, RunFiles& files, Metrics& metrics) {
  for (int i = 0; i < kEvaluations; ++i) {
    const double speedup = static_cast<double>(seed_for(policy, "speedup", i) % 1000) / 100;
    const std::string key = key_of(policy, i);
    KRL_ASSIGN(const auto known, files.ledger().find(key, iteration));
    metrics["known"] += known ? 1 : 0;
    KRL_TRY(files.ledger().append({key, iteration, "task", timed_evaluation(speedup)}));
    const Result<bool> better =
        files.best().offer({"task", iteration, key, timed_evaluation(speedup)});
    if (!better) return failure(better.error());
  }
  return {};
}

Status iterate(int iteration, std::uint64_t& policy, RunFiles& files) {
  policy = seed_for(policy, "iteration", iteration);
  IterationMetrics metrics{iteration, "toy", unix_seconds(), {}};
  metrics.values["policy"] = static_cast<double>(policy >> 12);
  metrics.values["time_s/iteration"] = unix_seconds();
  KRL_TRY(evaluate(iteration, policy, files, metrics.values));
  return files.finish_iteration(metrics, {"{\"answer\":" + std::to_string(iteration) + "}"});
}

Status save(int iteration, std::uint64_t policy, RunFiles& run, FileSystem& files) {
  return run.save_checkpoint(
      iteration, std::to_string(policy), [&](const std::filesystem::path& folder) {
        return write_atomically(files, folder / "weights", std::to_string(policy));
      });
}

}  // namespace

Status run_toy(const ToyRun& toy, const std::filesystem::path& directory, FileSystem& files) {
  KRL_ASSIGN(RunDirectory run_directory, RunDirectory::open(directory, OpenMode::kResume, files));
  KRL_TRY(run_directory.write_plan("[run]\nname = 'toy'\n"));
  KRL_ASSIGN(ResumePoint point, find_resume_point(run_directory));
  KRL_ASSIGN(RunFiles run, RunFiles::open(run_directory, std::move(point)));
  std::uint64_t policy = 1;
  int iteration = 0;
  if (run.checkpoint()) {
    iteration = run.checkpoint()->iteration;
    KRL_ASSIGN(const std::string weights, read_file(run.checkpoint()->policy() / "weights"));
    policy = std::stoull(weights);
    if (run.checkpoint()->state != weights)
      return invalid("state and policy of a checkpoint differ");
  }
  while (iteration < toy.iterations) {
    KRL_TRY(iterate(++iteration, policy, run));
    if (iteration % toy.checkpoint_every == 0) KRL_TRY(save(iteration, policy, run, files));
    RunStatus status;
    status.iteration = iteration;
    KRL_TRY(run_directory.beat(status));
  }
  return {};
}

std::vector<std::string> outcome(const std::filesystem::path& directory) {
  const RunLayout layout{directory};
  std::vector<std::string> lines;
  const std::string metrics = read_file(layout.metrics()).value_or("");
  for (std::size_t begin = 0, end; (end = metrics.find('\n', begin)) != std::string::npos;
       begin = end + 1) {
    auto parsed = parse_metrics_line(std::string_view(metrics).substr(begin, end - begin));
    if (!parsed) return {"no metrics: " + metrics.substr(begin, end - begin)};
    parsed->time = 0;
    std::erase_if(parsed->values, [](const auto& entry) { return !is_repeatable(entry.first); });
    lines.push_back(metrics_line(*parsed));
  }
  lines.push_back(read_file(layout.best() / "task.cu").value_or("no best kernel"));
  const auto ledger = Ledger::open(layout.ledger(), 1 << 30);
  lines.push_back(ledger ? std::to_string((*ledger)->size()) + " evaluations"
                         : ledger.error().message);
  return lines;
}

}  // namespace krl::test
