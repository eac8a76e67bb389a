#include "plugins/backends/evaluator/compile/warm_servers.hpp"

#include <kernelrl/values.hpp>
#include <utility>

#include "plugins/backends/evaluator/compile/source_file.hpp"
#include "plugins/process/conversation.hpp"

namespace krl::evaluator {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kCancelPoll{50};
constexpr std::uint32_t kMostAnswerBytes = 1 << 10;
constexpr std::chrono::seconds kAnswerLimit{10};  // limit of an answer that has begun to arrive

// A server serves as long as we live, and forks for each compile.
constexpr std::uint32_t kServerCpuSeconds = 1'000'000, kServerProcesses = 1 << 20;

Command server_command(const WarmServerOptions& options, const std::string& preamble,
                       const MemoryFile& log, const MemoryFile& module) {
  SandboxRules rules = options.rules;
  rules.forks = true;
  rules.processes = kServerProcesses;
  rules.cpu_seconds = kServerCpuSeconds;
  if (!preamble.empty()) rules.private_folder_bytes = options.preamble_bytes;
  Command command = sandboxed(options.launcher, rules, {options.command});
  command.descriptors = {{log.descriptor(), kLogDescriptor},
                         {module.descriptor(), kCompiledModuleDescriptor}};
  return command;
}

Ending ending_of(const nlohmann::json& message) {
  Ending ending;
  message.at("exit_code").get_to(ending.exit_code);
  message.at("signal").get_to(ending.signal);
  message.at("cpu_seconds").get_to(ending.cpu_seconds);
  return ending;
}

}  // namespace

// One server, which is of no more use after a compile that has no ending of its own.
class WarmServers::Server {
 public:
  Server(const WarmServerOptions& options, const std::string& preamble)
      : conversation_(server_command(options, preamble, log_, module_), options.encoding) {}

  // No value if the server has ended without an answer, or its answer is invalid.
  std::optional<Ending> compile(const CompileRequest& request, std::chrono::milliseconds limit,
                                const Cancelled& cancelled) {
    log_.clear();
    module_.clear();
    if (!conversation_.send(request)) return std::nullopt;
    try {
      const auto begun = conversation_.receive(kAnswerLimit + limit, kMostAnswerBytes);
      if (!begun) return std::nullopt;
      const Ending cut_short = wait(begun->at("child").get<pid_t>(), limit, cancelled);
      if (cut_short.deadline || cut_short.cancelled || cut_short.asleep) return cut_short;
      const auto ended = conversation_.receive(kAnswerLimit, kMostAnswerBytes);
      return ended ? ending_of(*ended) : conversation_.end({});
    } catch (const nlohmann::json::exception&) {
      return std::nullopt;
    }
  }

  const MemoryFile& log() const { return log_; }
  const MemoryFile& module() const { return module_; }
  std::string complaint() const { return conversation_.complaint(); }

 private:
  // Until the server reports how the compile ended; if it does not, why not.
  Ending wait(pid_t child, std::chrono::milliseconds limit, const Cancelled& cancelled) {
    const auto start = Clock::now();
    Ending ending;
    while (!conversation_.has_answer(kCancelPoll)) {
      const auto wall = Clock::now() - start;
      ending.cancelled = cancelled && cancelled();
      ending.deadline = wall > limit;
      ending.asleep = time_asleep(child, wall) > kMostSleep;
      if (ending.cancelled || ending.deadline || ending.asleep) break;
    }
    return ending;
  }

  MemoryFile log_ = MemoryFile::create("krl-log"), module_ = MemoryFile::create("krl-module");
  Conversation conversation_;
};

WarmServers::WarmServers(WarmServerOptions options) : options_(std::move(options)) {}
WarmServers::~WarmServers() = default;

CompileOutput WarmServers::compile(CompileRequest request, const Cancelled& cancelled) {
  request.cpu_seconds = options_.rules.cpu_seconds;
  for (bool was_idle = true;;) {
    std::unique_ptr<Server> server = idle(request.preamble);
    if (!server) {
      was_idle = false;
      starts_.run([&] { server = std::make_unique<Server>(options_, request.preamble); });
    }
    const auto ending = server->compile(request, options_.time_limit * kWallSlack, cancelled);
    if (!ending && was_idle) continue;  // someone killed it while it was idle
    if (!ending) {
      throw Failure(KRL_UNAVAILABLE,
                    "the compile server ended before it compiled: " + server->complaint());
    }
    CompileOutput output = compile_output(*ending, options_.rules.cpu_seconds, kSourceFile,
                                          server->log(), server->module());
    if (!ending->asleep) keep(request.preamble, std::move(server));
    return output;
  }
}

std::unique_ptr<WarmServers::Server> WarmServers::idle(const std::string& preamble) {
  const std::scoped_lock lock(mutex_);
  auto& servers = idle_[preamble];
  if (servers.empty()) return nullptr;
  std::unique_ptr<Server> server = std::move(servers.back());
  servers.pop_back();
  return server;
}

void WarmServers::keep(const std::string& preamble, std::unique_ptr<Server> server) {
  const std::scoped_lock lock(mutex_);
  idle_[preamble].push_back(std::move(server));
}

}  // namespace krl::evaluator
