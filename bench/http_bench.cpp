// What the HTTP client costs: memory, processor time and delay with many requests in flight. The
// server is a separate process on this machine that answers each request after a fixed time.
//
//   http_bench [plain|tls|stream] [IN_FLIGHT [REQUESTS [DELAY_MS]]]     plain 1000 20000 500 if not
//   given
//
// A request has a body of 4 KiB, an answer one of 16 KiB; `stream` gives it in 64 events, all at
// once.
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "http/base/event_stream.hpp"
#include "http/base/loop.hpp"
#include "http/client/client.hpp"
#include "tests/unit/http/scripted_server.hpp"

namespace {

using namespace krl::http;
using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

struct Work {
  std::string mode = "plain";
  std::size_t in_flight = 1000, requests = 20'000;
  std::chrono::milliseconds delay{500};
};

constexpr std::size_t kRequestBytes = std::size_t{4} << 10, kAnswerBytes = std::size_t{16} << 10;
constexpr std::size_t kEvents = 64;

Work work_of(int argc, char** argv) {
  Work work;
  if (argc > 1) work.mode = argv[1];
  if (argc > 2) work.in_flight = std::strtoul(argv[2], nullptr, 10);
  if (argc > 3) work.requests = std::strtoul(argv[3], nullptr, 10);
  if (argc > 4) work.delay = std::chrono::milliseconds(std::strtol(argv[4], nullptr, 10));
  return work;
}

testing::Script script_of(const Work& work) {
  testing::Script script;
  script.wait(work.delay);
  if (work.mode != "stream") {
    return script.send(testing::head(200, {{"Content-Length", std::to_string(kAnswerBytes)}}) +
                       std::string(kAnswerBytes, 'x'));
  }
  std::string text = testing::head(200, {{"Transfer-Encoding", "chunked"}});
  for (std::size_t i = 0; i < kEvents; ++i) {
    text += testing::chunk("data: " + std::string(kAnswerBytes / kEvents, 'x') + "\n\n");
  }
  return script.send(text + testing::chunk(""));
}

// In a separate process, until it is killed; its URL goes to `to`.
[[noreturn]] void serve(const Work& work, const testing::Certificate& certificate, int to) {
  testing::ServerSettings settings;
  if (work.mode == "tls") settings.certificate = &certificate;
  const testing::Script script = script_of(work);
  const testing::ScriptedServer server([&](const testing::SeenRequest&) { return script; },
                                       settings);
  const std::string url = server.url();
  if (::write(to, url.data(), url.size()) < 0) ::_exit(1);
  for (;;) ::pause();
}

double processor_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  double sum = 0;
  for (const timeval& time : {usage.ru_utime, usage.ru_stime}) {
    sum += static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  }
  return sum;
}

double peak_megabytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

std::size_t answered_bytes(Client& client, const Work& work, const Request& request, Yield yield) {
  const Patience patience = Patience::of(std::chrono::minutes(5));
  if (work.mode != "stream") return client.ask(request, patience, yield).body.size();
  EventStream events;
  std::size_t bytes = 0;
  client.stream(
      request,
      [&](std::string_view part) {
        events.feed(part, [&](const Event& event) { bytes += event.data.size(); });
      },
      patience, yield);
  return bytes;
}

void measure(Loop& loop, Client& client, const Work& work, const Request& request) {
  const double memory_before = peak_megabytes(), processor_before = processor_seconds();
  const std::size_t rounds = work.requests / work.in_flight;
  std::vector<double> seconds;
  const auto ask_in_turn = [&](std::size_t, Yield yield) {
    for (std::size_t i = 0; i < rounds; ++i) {
      const auto begin = Clock::now();
      if (answered_bytes(client, work, request, yield) != kAnswerBytes) std::abort();
      seconds.push_back(Seconds(Clock::now() - begin).count());
    }
  };
  const auto begin = Clock::now();
  loop.run([&](Yield yield) { side_by_side(loop.io(), work.in_flight, ask_in_turn, yield); });
  const double wall = Seconds(Clock::now() - begin).count();

  const auto n = static_cast<double>(seconds.size());
  const double delay = Seconds(work.delay).count();
  std::sort(seconds.begin(), seconds.end());
  std::printf("%s, %zu in flight, %.0f requests, answered after %.0f ms\n", work.mode.c_str(),
              work.in_flight, n, 1e3 * delay);
  std::printf("  wall        %8.3f s, %.3f ms a request beyond the server's delay\n", wall,
              1e3 * (wall - static_cast<double>(rounds) * delay) / n);
  std::printf("  processor   %8.3f ms a request\n",
              1e3 * (processor_seconds() - processor_before) / n);
  std::printf("  one request %8.1f ms median, %.1f ms at the 99th percentile\n",
              1e3 * seconds[seconds.size() / 2], 1e3 * seconds[seconds.size() * 99 / 100]);
  std::printf("  memory      %8.1f MB at most, %.1f MB before\n", peak_megabytes(), memory_before);
}

// From the moment at which all are told to stop until the last has.
void measure_cancelling(Loop& loop, Client& client, const Work& work, const Request& request) {
  std::atomic<bool> cancelled{false};
  Clock::time_point begin;
  std::thread canceller([&] {
    std::this_thread::sleep_for(work.delay / 2);
    begin = Clock::now();
    cancelled = true;
  });
  const Patience patience = Patience::of(std::chrono::minutes(5), [&] { return cancelled.load(); });
  const auto ask = [&](std::size_t, Yield yield) {
    try {
      client.ask(request, patience, yield);
    } catch (const Failure&) {  // it was cancelled
    }
  };
  loop.run([&](Yield yield) { side_by_side(loop.io(), work.in_flight, ask, yield); });
  canceller.join();
  std::printf("  cancelled   %8.1f ms until the last of %zu has ended\n",
              1e3 * Seconds(Clock::now() - begin).count(), work.in_flight);
}

void measure_all(const Work& work, const std::string& url, const std::string& ca_file) {
  Options options;
  options.max_in_flight = static_cast<unsigned>(work.in_flight);
  if (work.mode == "tls") options.ca_file = ca_file;
  Loop loop;
  Client client(loop.io(), parse_url(url), options);
  Request request;
  request.target = "/v1/completions";
  request.body = std::string(kRequestBytes, 'x');
  measure(loop, client, work, request);
  measure_cancelling(loop, client, work, request);
}

}  // namespace

int main(int argc, char** argv) {
  const Work work = work_of(argc, argv);
  const testing::Certificate authority = testing::make_authority();
  const testing::Certificate certificate = testing::make_certificate(authority, {"localhost"});
  const std::string ca_file =
      std::filesystem::temp_directory_path() / ("http-bench-" + std::to_string(::getpid()));
  std::ofstream(ca_file) << authority.certificate;
  int channel[2];
  if (::pipe(channel) != 0) return 1;
  const pid_t server = ::fork();
  if (server == 0) serve(work, certificate, channel[1]);
  char url[64] = {};
  if (::read(channel[0], url, sizeof url - 1) > 0) measure_all(work, url, ca_file);
  ::kill(server, SIGKILL);
  ::waitpid(server, nullptr, 0);
  std::filesystem::remove(ca_file);
}
