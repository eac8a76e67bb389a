#include "plugins/backends/cuda/gpu/gpu.hpp"

#include <algorithm>
#include <csignal>
#include <string_view>
#include <thread>
#include <utility>

#include "plugins/backends/cuda/gpu/host_runner.hpp"

namespace krl::cuda {
using namespace evaluator;
namespace {

using nlohmann::json;

// Pauses are counted rather than timed, because the clock belongs to the limits of requests.
constexpr std::chrono::milliseconds kMemoryPause{5};
constexpr int kMemoryPauses = 400;
constexpr double kBusy = 1.5;  // the slowdown from which on the GPU counts as busy
constexpr std::uint32_t kHostProcessorSeconds = 600, kForEver = 1'000'000'000;

bool is_trouble(const json& answer) { return answer.is_object() && answer.contains("trouble"); }

// Describes why a worker returned no result.
std::string complaint(Conversation& worker, const std::optional<json>& answer) {
  if (answer) return answer->at("trouble").at("message");
  const std::string said = worker.complaint();
  return (worker.timed_out() ? "it hung" : "it exited") + (said.empty() ? "" : ": " + said);
}

// True if someone else killed the worker. One that is still alive is killed here.
bool was_killed(Conversation& worker) {
  if (worker.timed_out()) return false;
  const Ending ending = ending_of(worker.process());
  return ending.signal == SIGKILL && !ending.deadline;
}

}  // namespace

Gpu::Gpu(gpu::GpuDescription description, const GpuWorkers& workers)
    : description_(std::move(description)),
      workers_(workers),
      counters_({workers.profiler,
                 workers.profiler_is_ncu ? workers.runner : "",
                 workers.environment,
                 {description_.index, workers.trusted_code, workers.arena_bytes, {}},
                 workers.run_limit,
                 description_.bandwidth}) {
  starting_checker_ = start_checker();
  runners().spare = start_runner();
}

Gpu::Starting Gpu::start_runner() {
  if (workers_.sandbox.empty()) return start({{workers_.runner}, workers_.environment, {}});
  // One that runs device code lives as long as the GPU is used.
  const std::uint32_t cpu_seconds = kind_ == RunnerKind::kHost ? kHostProcessorSeconds : kForEver;
  std::vector<std::string> libraries = description_.libraries;
  libraries.insert(libraries.end(), workers_.libraries.begin(), workers_.libraries.end());
  return start(sandboxed_runner(workers_.sandbox, workers_.runner, workers_.environment,
                                cpu_seconds, libraries));
}

Gpu::Starting Gpu::start_checker() {
  return start({{workers_.checker, workers_.reference_device}, workers_.environment, {}});
}

// Starts a worker in a separate thread, so that no one waits for a spare.
Gpu::Starting Gpu::start(Command command) {
  const gpu::GuardKey key{secret_number(), secret_number()};
  gpu::Setup setup{description_.index, workers_.trusted_code, workers_.arena_bytes, key};
  if (kind_ == RunnerKind::kHost) setup.guards = {};  // the candidate can read them
  const std::uint64_t number = next_number_++;
  return std::async(std::launch::async, [this, command = std::move(command), setup, key, number] {
    std::unique_ptr<Worker> worker;
    starter_.run([&] { worker = std::make_unique<Worker>(number, key, command); });
    const auto answer = worker->conversation.ask({{"setup", setup}}, gpu::kSetupLimit);
    const std::string where = " on GPU " + std::to_string(setup.device);
    if (!answer && was_killed(worker->conversation)) {
      throw WorkerKilled(KRL_UNAVAILABLE,
                         command.arguments.front() + " was killed while it started" + where);
    }
    if (!answer || is_trouble(*answer)) {
      throw WorkerDoesNotStart(KRL_UNAVAILABLE, command.arguments.front() + " does not start" +
                                                    where + ": " +
                                                    complaint(worker->conversation, answer));
    }
    worker->ready = answer->get<gpu::Ready>();
    return worker;
  });
}

// Once more if it fails: it may have been killed while no one needed it.
std::unique_ptr<Gpu::Worker> Gpu::started(Starting* starting, Starting (Gpu::*start)()) {
  if (!starting->valid()) *starting = (this->*start)();
  try {
    return starting->get();
  } catch (const Failure&) {
    return (this->*start)().get();
  }
}

Gpu::Worker& Gpu::current_checker() {
  if (!checker_) {
    checker_ = started(&starting_checker_, &Gpu::start_checker);
    measure_empty_launch(checker_.get());
    checker_->peaks = peaks_of(*checker_);
  }
  return *checker_;
}

// Now that no one else uses the GPU. A worker that does not answer fails at its next request.
void Gpu::measure_empty_launch(Worker* worker) const {
  const auto answer = worker->conversation.ask({{"empty_launch", nullptr}}, gpu::kSetupLimit);
  if (answer && answer->is_number()) worker->empty_launch_ns = answer->get<double>();
}

// The same holds. No candidate is ever there when they are measured.
Peaks Gpu::peaks_of(Worker& checker) const {
  const auto answer = checker.conversation.ask({{"peaks", nullptr}}, gpu::kSetupLimit);
  return answer && !is_trouble(*answer) ? answer->get<Peaks>() : Peaks();
}

Gpu::Worker& Gpu::current_runner() {
  Runners& of_kind = runners();
  if (!of_kind.active) {
    of_kind.active = started(&of_kind.spare, &Gpu::start_runner);
    measure_empty_launch(of_kind.active.get());
    of_kind.spare = start_runner();
  }
  return *of_kind.active;
}

std::uint64_t Gpu::runner() {
  Worker& runner = current_runner();
  const std::uint64_t checker = current_checker().number;
  if (runner.attached_to != checker) attach_runner();
  runner.attached_to = checker;
  return runner.number;
}

// The memory of a runner that is gone cannot be mapped, regardless of the checker's answer.
void Gpu::attach_runner() {
  std::unique_ptr<Worker>& runner = runners().active;
  try {
    ask_checker("attach", gpu::Attach{runner->number, runner->ready.arena, workers_.arena_bytes,
                                      runner->guards, kind_ == RunnerKind::kHost});
  } catch (const Failure& failure) {
    const bool killed = was_killed(runner->conversation);
    runner.reset();
    if (killed) throw WorkerKilled(KRL_UNAVAILABLE, failure.what());
    throw;
  }
}

bool Gpu::arena_is_intact() {
  const std::unique_ptr<Worker>& runner = runners().active;
  if (!runner || !checker_ || runner->attached_to != checker_->number) return true;
  return ask_checker("is_intact", gpu::Detach{runner->number}).get<bool>();
}

void Gpu::replace_runner() {
  std::unique_ptr<Worker>& runner = runners().active;
  if (!runner) return;
  runner->conversation.process().kill();
  const std::uint64_t number = runner->number;
  const bool attached = checker_ && runner->attached_to == checker_->number;
  runner.reset();
  if (!attached) return;
  ask_checker("detach", gpu::Detach{number});
  if (kind_ == RunnerKind::kHost) wait_for_memory();
}

// Waits until the driver has freed the memory of an ended process, which takes a while. The next
// candidate would otherwise lack it, and a baseline be slower.
void Gpu::wait_for_memory() {
  const auto free = [this] { return ask_checker("free_memory", nullptr).get<std::uint64_t>(); };
  std::uint64_t before = free();
  for (int pause = 0; pause < kMemoryPauses; ++pause) {
    std::this_thread::sleep_for(kMemoryPause);
    const std::uint64_t now = free();
    if (now <= before) return;
    before = now;
  }
}

void Gpu::give_up_runner() noexcept {
  try {
    replace_runner();
  } catch (...) {  // the checker is gone, and with it its data on the runner
  }
}

void Gpu::pause_runner() {
  Worker& runner = current_runner();
  runner.conversation.process().pause();
  runner.paused = true;
}

void Gpu::choose_runner(RunnerKind kind) {
  if (kind_ == RunnerKind::kHost) give_up_runner();
  kind_ = kind;
  if (kind_ != RunnerKind::kHost) return;
  try {
    runner();  // the checker maps its memory before any code of a candidate's runs alongside it
    free_bytes_before_ = ask_checker("free_memory", nullptr).get<std::uint64_t>();
    is_shared_ = is_busy();
  } catch (...) {
    kind_ = RunnerKind::kDevice;
    throw;
  }
}

bool Gpu::is_busy() { return ask_checker("slowdown", nullptr).get<double>() > kBusy; }

void Gpu::limit_runs(std::chrono::milliseconds limit) {
  run_limit_ = std::min(limit, workers_.run_limit);
}

std::chrono::milliseconds Gpu::limit_of(std::uint32_t runs) const {
  return std::min(runs * run_limit_, workers_.run_limit);
}

Checked<json, RunnerFailure> Gpu::ask_runner(const char* kind, const json& request,
                                             std::uint32_t runs, std::size_t numbers) {
  if (kind_ == RunnerKind::kHost) return ask_host_runner(kind, request, runs, numbers);
  current_runner().conversation.send({{kind, request}});
  return runner_answer(runs);
}

std::optional<RunnerFailure> Gpu::ask_runner_all(const char* kind,
                                                 const std::vector<json>& requests) {
  Worker& runner = current_runner();
  for (const json& request : requests) runner.conversation.send({{kind, request}});
  std::optional<RunnerFailure> first;
  for (std::size_t i = 0; i < requests.size() && runners().active; ++i) {
    const auto answer = runner_answer(1);
    if (answer || first) continue;
    first = answer.error();
    first->request = i;
  }
  return first;
}

// None comes where the runner was gone before it could be asked.
Checked<json, RunnerFailure> Gpu::runner_answer(std::uint32_t runs) {
  Conversation& conversation = runners().active->conversation;
  const auto answer = conversation.receive(limit_of(runs));
  if (answer && !is_trouble(*answer)) return *answer;
  RunnerFailure failure;
  if (answer) {
    failure.trouble = answer->at("trouble").get<gpu::Trouble>();
  } else {
    failure.kind = conversation.timed_out() ? RunnerFailure::kTimeout : RunnerFailure::kDied;
  }
  const bool killed = !answer && was_killed(conversation);
  if (!answer || !failure.trouble.launching) replace_runner();
  if (killed) throw WorkerKilled(KRL_UNAVAILABLE, "the process that ran the kernel was killed");
  return failure;
}

Checked<json, RunnerFailure> Gpu::ask_host_runner(const char* kind, const json& request,
                                                  std::uint32_t runs, std::size_t numbers) {
  runner();
  Worker& worker = current_runner();
  Conversation& conversation = worker.conversation;
  if (std::exchange(worker.paused, false)) conversation.process().resume();
  const std::uint64_t ticket = secret_number();
  // Loading takes time in proportion to the code, not to the work of its kernels.
  const bool loads = std::string_view(kind) == "load";
  const auto answer =
      conversation.ask({{kind, request}, {gpu::kTicket, ticket}},
                       loads ? workers_.run_limit : limit_of(runs), kMostHostAnswerBytes);
  Checked<json, RunnerFailure> result = host_answer(ticket, answer, numbers);
  if (result) return result;
  RunnerFailure failure = result.error();
  if (!answer && conversation.timed_out()) failure.kind = RunnerFailure::kTimeout;
  if (failure.kind == RunnerFailure::kDied) failure.ending = ending_of(conversation.process());
  replace_runner();
  return failure;
}

json Gpu::ask_checker(const char* kind, const json& request, std::size_t parts) {
  Conversation& conversation = current_checker().conversation;
  const auto answer = conversation.ask({{kind, request}}, parts * workers_.check_limit);
  if (answer && !is_trouble(*answer)) return *answer;
  const std::string name = "the checker of GPU " + std::to_string(description_.index);
  const std::string why = complaint(conversation, answer);
  const bool killed = !answer && was_killed(conversation);
  checker_.reset();
  if (killed) throw WorkerKilled(KRL_UNAVAILABLE, name + " was killed at '" + kind + "'");
  throw Failure(KRL_UNAVAILABLE, name + " failed at '" + kind + "': " + why);
}

}  // namespace krl::cuda
