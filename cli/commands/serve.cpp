#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <semaphore>
#include <thread>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/judge_options.hpp"
#include "cli/stop_signals.hpp"
#include "serve/judge_server.hpp"

namespace krl::cli {
namespace {

// In which requests under way are answered after a signal.
constexpr std::chrono::seconds kDrain{120};

void add_serve_options(CommandLine& line) {
  line.option("address", "ADDRESS", "where to listen", "127.0.0.1");
  line.option("port", "PORT", "0: any free one", "8400");
  line.option("token-file", "FILE", "clients need a token: lines NAME TOKEN");
  line.option("certificate", "FILE", "serve by TLS, with this certificate chain (PEM)");
  line.option("key", "FILE", "and its key (PEM)");
  line.repeatable("allow-origin", "URL", "an origin whose web pages may ask (repeatable)");
  line.option("rate", "N", "requests a second of each client (any number)");
  line.option(
      "seed", "N|client",
      "what inputs are drawn from: a secret number, or the seeds of the requests as they are, "
      "for clients that are trusted; without it, inputs differ from start to start");
  const serve::JudgeServerOptions usual;
  const auto number = [&](const char* name, const char* value, const char* about, auto otherwise) {
    line.option(name, value, about, std::to_string(otherwise).c_str());
  };
  number("deadline", "S", "seconds for a verdict, at most", usual.judge.longest.count());
  number("max-waiting", "N", "kernels that wait, of all clients", usual.judge.queue.most_waiting);
  number("max-connections", "N", "connections", usual.server.max_connections);
  number("keep-mb", "N", "memory for results, which are not judged again",
         usual.judge.queue.kept_bytes >> 20);
  number("threads", "N", "threads that speak with clients", usual.server.threads);
  line.flag("allow-modules", "let clients send PyTorch modules, whose code is run here");
  line.flag("until-eof", "end as by SIGTERM when standard input ends, so with who holds it open");
}

// The number of the option, at least `least`.
Result<std::uint64_t> number_of(const CommandLine& line, const char* name, std::uint64_t least,
                                std::uint64_t most) {
  const auto number = number_in<std::uint64_t>(line.text(name));
  if (number && *number >= least && *number <= most) return *number;
  return invalid(fmt::format("--{} is '{}'; it must be a whole number from {} to {}", name,
                             line.text(name), least, most));
}

Result<serve::InputSeeds> input_seeds(const CommandLine& line) {
  using Source = serve::InputSeeds::Source;
  if (!line.has("seed")) {
    return serve::InputSeeds{Source::kRandom, secret_seed()};
  }
  if (line.text("seed") == "client") return serve::InputSeeds{Source::kClients};
  const auto number = number_in<std::uint64_t>(line.text("seed"));
  if (!number) return invalid("--seed must be a whole number, or client");
  return serve::InputSeeds{Source::kGiven, *number};
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
  KRL_ASSIGN(options.judge.queue.seeds, input_seeds(line));
  if (line.has("allow-modules")) options.module_python = child_options().python;
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

// A pipe ends with the process that holds its other end, even if that is killed.
void stop_after_input() {
  std::thread([] {
    char ignored[512];
    ssize_t n;
    do {
      n = ::read(STDIN_FILENO, ignored, sizeof ignored);
    } while (n > 0 || (n < 0 && errno == EINTR));
    ::kill(::getpid(), SIGTERM);
  }).detach();
}

Result<int> serve_until_stopped(const LoadedPlan& loaded, const serve::JudgeServerOptions& options,
                                bool until_eof) {
  std::binary_semaphore stopped(0);
  StopSignals signals([&](StopNews news) {
    if (news == StopNews::kFirst || news == StopNews::kHangUp) stopped.release();
    if (news == StopNews::kSecond) print_error("kernelrl: stopping at once\n");
  });
  Session session(loaded.registry, print_warning,
                  call_scope(loaded.plan.run, StopSignals::cancel()));
  KRL_ASSIGN(const auto server, serve::JudgeServer::open(loaded.plan, session, options));
  print("listening on " + server->url() + ", judging by " + server->device() + "\n");
  if (until_eof) stop_after_input();
  stopped.acquire();
  print_error("kernelrl: answering what is under way; signal again to stop at once\n");
  if (!server->drain(kDrain)) print_warning("some requests were not answered");
  return kDone;
}

Result<int> serve(const CommandLine& line) {
  KRL_ASSIGN(const serve::JudgeServerOptions options, server_options(line));
  KRL_ASSIGN(const LoadedPlan loaded, load_judge(line));
  raise_descriptor_limit();
  return serve_until_stopped(loaded, options, line.has("until-eof"));
}

}  // namespace

int serve_command(const Words& words) {
  CommandLine line(
      "kernelrl serve [--plan PLAN | --backend B --tasks PATH] [--port PORT]",
      "Judges kernels for other programs, over HTTP: docs/serve.md. SIGTERM ends it once the requests\n"
      "under way are answered.\n");
  add_judge_options(line);
  add_serve_options(line);
  if (const auto over = line.parse(words)) return *over;
  if (const std::string why = why_no_judge(line); !why.empty()) return line.wrong(why);
  return exit_code_of(serve(line));
}

}  // namespace krl::cli
