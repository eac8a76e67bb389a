#include "plugins/backends/cuda/gpu/gpu.hpp"

#include <utility>

namespace krl {
namespace {

using nlohmann::json;

bool is_trouble(const json& answer) { return answer.is_object() && answer.contains("trouble"); }

// What a worker that gave no result has to say.
std::string complaint(Conversation& worker, const std::optional<json>& answer) {
  if (answer) return answer->at("trouble").at("message");
  const std::string said = worker.complaint();
  return (worker.timed_out() ? "it hangs" : "it ended") + (said.empty() ? "" : ": " + said);
}

}  // namespace

Gpu::Gpu(gpu::GpuDescription description, const GpuWorkers& workers)
    : description_(std::move(description)),
      workers_(workers),
      counters_({workers.profiler,
                 workers.environment,
                 {description_.index, workers.trusted_code, workers.arena_bytes},
                 workers.run_limit,
                 description_.bandwidth}) {
  starting_checker_ = start_checker();
  spare_ = start_runner();
}

Gpu::Starting Gpu::start_runner() { return start({workers_.runner}); }

Gpu::Starting Gpu::start_checker() { return start({workers_.checker, workers_.reference_device}); }

// In a thread of its own, as nobody need wait for a spare.
Gpu::Starting Gpu::start(std::vector<std::string> arguments) {
  Command command;
  command.arguments = std::move(arguments);
  command.environment = workers_.environment;
  const gpu::Setup setup{description_.index, workers_.trusted_code, workers_.arena_bytes};
  const std::uint64_t number = next_number_++;
  return std::async(std::launch::async, [command = std::move(command), setup, number] {
    auto worker = std::make_unique<Worker>(number, command);
    const auto answer = worker->conversation.ask({{"setup", setup}}, gpu::kSetupLimit);
    if (!answer || is_trouble(*answer)) {
      throw WorkerDoesNotStart(KRL_UNAVAILABLE, command.arguments.front() +
                                                    " does not start on GPU " +
                                                    std::to_string(setup.device) + ": " +
                                                    complaint(worker->conversation, answer));
    }
    worker->ready = answer->get<gpu::Ready>();
    return worker;
  });
}

// Once more if it fails: it may have been killed while it waited.
std::unique_ptr<Gpu::Worker> Gpu::started(Starting* starting, Starting (Gpu::*start)()) {
  if (!starting->valid()) *starting = (this->*start)();
  try {
    return starting->get();
  } catch (const WorkerDoesNotStart&) {
    return (this->*start)().get();
  }
}

Gpu::Worker& Gpu::current_checker() {
  if (!checker_) {
    checker_ = started(&starting_checker_, &Gpu::start_checker);
    attached_ = false;
  }
  return *checker_;
}

Gpu::Worker& Gpu::current_runner() {
  if (!runner_) {
    runner_ = started(&spare_, &Gpu::start_runner);
    attached_ = false;
    spare_ = start_runner();
  }
  return *runner_;
}

std::uint64_t Gpu::runner() {
  const Worker& runner = current_runner();
  if (!attached_) ask_checker("attach", gpu::Attach{runner.number, runner.ready.arena});
  attached_ = true;
  return runner.number;
}

void Gpu::replace_runner() {
  if (!runner_) return;
  runner_->conversation.process().kill();
  const std::uint64_t number = runner_->number;
  runner_.reset();
  if (std::exchange(attached_, false)) ask_checker("detach", gpu::Detach{number});
}

Checked<json, RunnerFailure> Gpu::ask_runner(const char* kind, const json& request) {
  Worker& runner = current_runner();
  const auto answer = runner.conversation.ask({{kind, request}}, workers_.run_limit);
  if (answer && !is_trouble(*answer)) return *answer;
  RunnerFailure failure;
  if (answer) {
    failure.trouble = answer->at("trouble").get<gpu::Trouble>();
  } else {
    failure.kind = runner.conversation.timed_out() ? RunnerFailure::kTimeout : RunnerFailure::kDied;
  }
  if (!answer || !failure.trouble.launching) replace_runner();
  return failure;
}

json Gpu::ask_checker(const char* kind, const json& request) {
  Worker& checker = current_checker();
  const auto answer = checker.conversation.ask({{kind, request}}, workers_.check_limit);
  if (answer && !is_trouble(*answer)) return *answer;
  const std::string why = complaint(checker.conversation, answer);
  checker_.reset();
  attached_ = false;
  throw Failure(KRL_UNAVAILABLE, "the checker of GPU " + std::to_string(description_.index) +
                                     " failed at '" + kind + "': " + why);
}

}  // namespace krl
