#include <fmt/format.h>
#include <sys/resource.h>

#include <filesystem>
#include <random>
#include <semaphore>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/policy_options.hpp"
#include "cli/stop_signals.hpp"
#include "core/plan/source.hpp"
#include "serve/judge_server.hpp"

namespace krl::cli {
namespace po = boost::program_options;
namespace fs = std::filesystem;
namespace {

// In which requests under way are answered after a signal.
constexpr std::chrono::seconds kDrain{120};

void add_serve_options(CommandLine& line) {
  const auto text = [](const char* name) { return po::value<std::string>()->value_name(name); };
  line.options()("plan", text("PLAN"), "the plan that says what judges, for which tasks")(
      "backend", text("ID"), "the backend, where there is no plan (cpu)")(
      "tasks", text("PATH"), "the tasks, a file or a folder (the built-in ones)")(
      "address", text("ADDRESS")->default_value("127.0.0.1"), "where to listen")(
      "port", text("PORT")->default_value("8400"), "0: any free one")(
      "token-file", text("FILE"), "clients need a token: lines NAME TOKEN")(
      "certificate", text("FILE"), "serve by TLS, with this certificate chain (PEM)")(
      "key", text("FILE"), "and its key (PEM)")("allow-origin",
                                                po::value<Words>()->value_name("URL"),
                                                "an origin whose web pages may ask (repeatable)")(
      "rate", text("N"), "requests a second of each client (any number)")(
      "deadline", text("S")->default_value("600"), "seconds for a verdict, at most")(
      "max-waiting", text("N")->default_value("10000"), "kernels that wait, of all clients")(
      "max-connections", text("N")->default_value("30000"), "connections")(
      "keep-mb", text("N")->default_value("64"), "memory for results, which are not judged again")(
      "threads", text("N")->default_value("2"), "threads that speak with clients");
  add_plan_options(line);
}

// The number of the option, at least `least`.
Result<std::uint64_t> number_of(const CommandLine& line, const char* name, std::uint64_t least,
                                std::uint64_t most) {
  const auto number = number_in<std::uint64_t>(line.text(name));
  if (number && *number >= least && *number <= most) return *number;
  return invalid(fmt::format("--{} is '{}'; it must be a whole number from {} to {}", name,
                             line.text(name), least, most));
}

Result<LoadedPlan> load_judge(const CommandLine& line) {
  if (line.has("plan")) return load_plan_of(line.text("plan"), line);
  KRL_ASSIGN(PlanOptions options, plan_options(line));
  std::vector<std::string> chosen;
  if (line.has("backend")) chosen.push_back("backend.use=" + line.text("backend"));
  if (line.has("tasks"))
    chosen.push_back("dataset.0.path=" + fs::absolute(line.text("tasks")).string());
  options.changes.insert(options.changes.begin(), chosen.begin(), chosen.end());
  return service::load_plan_of(shared_files() / "configs" / "judge.toml", options);
}

Result<serve::JudgeServerOptions> server_options(const CommandLine& line) {
  serve::JudgeServerOptions options;
  options.server.address = line.text("address");
  options.server.certificate_file = line.text_or("certificate");
  options.server.key_file = line.text_or("key");
  if (line.has("certificate") != line.has("key"))
    return invalid("--certificate and --key belong together");
  KRL_ASSIGN(const auto port, number_of(line, "port", 0, 65535));
  options.server.port = static_cast<std::uint16_t>(port);
  KRL_ASSIGN(const auto threads, number_of(line, "threads", 1, 1024));
  options.server.threads = static_cast<unsigned>(threads);
  KRL_ASSIGN(options.server.max_connections, number_of(line, "max-connections", 1, 1000000));
  KRL_ASSIGN(const auto deadline, number_of(line, "deadline", 1, 1000000));
  options.judge.longest = std::chrono::seconds(deadline);
  KRL_ASSIGN(options.judge.queue.most_waiting, number_of(line, "max-waiting", 1, 10000000));
  KRL_ASSIGN(const auto keep_mb, number_of(line, "keep-mb", 0, 1000000));
  options.judge.queue.kept_bytes = keep_mb << 20;
  std::random_device random;
  options.judge.queue.seed = (std::uint64_t{random()} << 32) | random();
  if (line.has("token-file")) {
    KRL_ASSIGN(options.admission.tokens, serve::read_tokens(line.text("token-file")));
  }
  options.admission.origins = line.texts("allow-origin");
  if (line.has("rate")) {
    const auto rate = number_in<double>(line.text("rate"));
    if (!rate || !(*rate > 0)) return invalid("--rate must be a number above 0");
    options.admission.rate = *rate;
  }
  return options;
}

// As many connections as the system allows.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

Result<int> serve_until_stopped(const LoadedPlan& loaded,
                                const serve::JudgeServerOptions& options) {
  std::binary_semaphore stopped(0);
  StopSignals signals([&](StopNews news) {
    if (news == StopNews::kFirst || news == StopNews::kHangUp) stopped.release();
    if (news == StopNews::kSecond) print_error("kernelrl: stopping at once\n");
  });
  Session session(loaded.registry, print_warning,
                  call_scope(loaded.plan.run, StopSignals::cancel()));
  KRL_ASSIGN(const auto server, serve::JudgeServer::open(loaded.plan, session, options));
  print("listening on " + server->url() + ", judging by " + server->device() + "\n");
  stopped.acquire();
  print_error("kernelrl: answering what is under way; signal again to stop at once\n");
  if (!server->drain(kDrain)) print_warning("some requests were not answered");
  return kDone;
}

Result<int> serve(const CommandLine& line) {
  KRL_ASSIGN(const serve::JudgeServerOptions options, server_options(line));
  KRL_ASSIGN(const LoadedPlan loaded, load_judge(line));
  raise_descriptor_limit();
  return serve_until_stopped(loaded, options);
}

}  // namespace

int serve_command(const Words& words) {
  CommandLine line(
      "kernelrl serve [--plan PLAN | --backend B --tasks PATH] [--port PORT]",
      "Judges kernels for other programs, over HTTP: docs/serve.md. SIGTERM ends it once the requests\n"
      "under way are answered.\n");
  add_serve_options(line);
  if (const auto over = line.parse(words)) return *over;
  if (line.has("plan") && (line.has("backend") || line.has("tasks")))
    return line.wrong("a plan has its own backend and tasks; give --plan or --backend and --tasks");
  return exit_code_of(serve(line));
}

}  // namespace krl::cli
