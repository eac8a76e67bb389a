// The plugin `remote`: a backend that asks servers of kernelrl; its options and its calls.
#include <algorithm>
#include <kernelrl/option_lists.hpp>
#include <kernelrl/sdk.hpp>
#include <kernelrl/task_definition.hpp>
#include <memory>

#include "plugins/backends/remote/engine.hpp"

namespace krl::remote {
namespace {

constexpr unsigned kMostInFlight = 4096;  // requests at one server

Patience patience_of(const Context& c) {
  const std::chrono::nanoseconds deadline(c.deadline_ns());
  const auto end = c.deadline_ns() == 0
                       ? Clock::time_point::max()
                       : Clock::time_point(std::chrono::duration_cast<Duration>(deadline));
  return {end, [c] { return c.cancelled(); }};
}

Duration seconds(double s) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(s));
}

}  // namespace

struct RemoteBackend final : Backend {
  static constexpr std::uint32_t flags = KRL_THREAD_SAFE | KRL_TAKES_HOST;

  std::string members, token_variable, token_file, ca_file;
  std::int64_t concurrency = 0;
  double hedge = 4, timeout_s = 900, connect_timeout_s = 5, patience_s = 30, members_every_s = 5;

  static constexpr auto config = krl::config(
      free_opt("servers", KRL_ARRAY,
               "the servers that judge, or a load balancer: [\"http://127.0.0.1:8400\"]"),
      opt("members", &RemoteBackend::members,
          "instead of servers, the URL of a JSON list of them, which is read again and again"),
      opt("members_every_s", &RemoteBackend::members_every_s,
          "seconds between two looks at that list")
          .range(0.1, 3600),
      opt("token_env", &RemoteBackend::token_variable,
          "the environment variable that contains the servers' token; empty = none")
          .secret(),
      opt("token_file", &RemoteBackend::token_file, "instead of token_env, a file that contains it")
          .path(),
      opt("concurrency", &RemoteBackend::concurrency,
          "evaluations at a time; 0 = twice as many as the servers run, so that none is idle while "
          "the next ones come")
          .range(0, kMostInFlight),
      opt("hedge", &RemoteBackend::hedge,
          "an evaluation that takes this many times the 95th percentile is also asked for at "
          "another server, and the first result counts; 0 = never")
          .range(0, 1000),
      opt("patience_s", &RemoteBackend::patience_s,
          "seconds for which a call waits while no server can judge")
          .range(0, 86400),
      opt("timeout_s", &RemoteBackend::timeout_s,
          "seconds after which a server that does not answer a request is taken for broken")
          .range(1, 86400),
      opt("connect_timeout_s", &RemoteBackend::connect_timeout_s,
          "time limit for connecting, including TLS, seconds")
          .range(0.1, 600),
      opt("ca_file", &RemoteBackend::ca_file,
          "trusted certificates for https (PEM); empty = the system's")
          .path());

  void start(const Config& plan, const Context& c) override {
    engine_ = std::make_unique<Engine>(settings(plan), [c] { return c.cancelled(); });
    info_ = engine_->info();
  }

  BackendInfo describe() override {
    BackendInfo info;
    info.concurrency =
        concurrency > 0 ? static_cast<std::uint32_t>(concurrency) : info_.concurrency;
    info.signals = info_.signals;
    info.toolchain = info_.judges_by();  // results depend on it
    info.device = info_.device;
    info.flags = info_.real_sizes ? KRL_BACKEND_REAL_SIZES : 0;
    return info;
  }

  // The servers check a task before they judge the first kernel for it.
  void prepare(const Task& task, const EvaluateOptions& options, const Context& c) override {
    const auto definition = parse_task_definition(task.definition_json());
    if (!definition) invalid_argument(definition.error());
    const EvaluateOptions compile{KRL_STAGE_COMPILE, options.seed};
    judge(Wanted(task, definition->naive, false, compile), c);
  }

  void evaluate(const Candidate& candidate, const EvaluateOptions& options,
                const EvaluationSink& sink, const Context& c) override {
    const Wanted wanted(candidate.task(), candidate.source(), candidate.host_contract(), options);
    sink.push(judge(wanted, c).evaluation);
  }

 private:
  Settings settings(const Config& plan) const {
    Settings settings;
    settings.servers = list_option<std::string>(plan, "servers");
    if (settings.servers.empty() && members.empty()) {
      invalid_argument(
          "set servers = [\"http://127.0.0.1:8400\"], the addresses of one or more kernelrl "
          "serve, or members, the URL of their list");
    }
    if (!settings.servers.empty() && !members.empty())
      invalid_argument("set servers or members, not both");
    settings.members = members;
    settings.members_every = seconds(members_every_s);
    settings.patience = seconds(patience_s);
    settings.hedge = hedge;
    http::Options& http = settings.http;
    http.timeouts.connect = http.timeouts.handshake = seconds(connect_timeout_s);
    http.timeouts.first_byte = seconds(timeout_s);
    http.max_in_flight = kMostInFlight;
    http.ca_file = ca_file;
    const std::string token = token_of(token_variable, token_file);
    if (!token.empty()) http.secret_headers.push_back({"Authorization", "Bearer " + token});
    return settings;
  }

  Judged judge(const Wanted& wanted, const Context& c) {
    struct Notes {
      Engine& engine;
      const Context& c;
      ~Notes() {
        for (const std::string& note : engine.take_notes()) c.info(note);
      }
    } const notes{*engine_, c};
    return engine_->judge(wanted, patience_of(c));
  }

  std::unique_ptr<Engine> engine_;
  ServerInfo info_;
};

}  // namespace krl::remote

KRL_PLUGIN("remote", "0.1.0",
           krl::backend<krl::remote::RemoteBackend>(
               "remote", "Servers of kernelrl elsewhere, one or many: kernelrl serve"))
