#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/judge_options.hpp"
#include "cli/stop_signals.hpp"
#include "serve/dialects/mcp_protocol.hpp"

namespace krl::cli {
namespace {

constexpr std::size_t kLongestMessage = std::size_t{4} << 20;

// The input, under a number that no plugin and no child knows: theirs is empty.
int own_input() {
  const int own = ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int empty = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::dup2(empty, STDIN_FILENO);
  ::close(empty);
  return own;
}

// Lines of a descriptor, until it ends or `stop` can be read.
class Lines {
 public:
  Lines(int input, int stop) : input_(input), stop_(stop) {}

  // None at the end, after a stop, and if a line is too long.
  std::optional<std::string> next() {
    while (true) {
      if (const std::size_t end = text_.find('\n'); end != std::string::npos) {
        std::string line = text_.substr(0, end);
        text_.erase(0, end + 1);
        return line;
      }
      if (text_.size() > kLongestMessage || !read_more()) return std::nullopt;
    }
  }

 private:
  bool read_more() {
    std::array<pollfd, 2> ready{{{input_, POLLIN, 0}, {stop_, POLLIN, 0}}};
    if (::poll(ready.data(), ready.size(), -1) < 0) return errno == EINTR;
    if (ready[1].revents != 0) return false;
    std::array<char, 65536> bytes{};
    const ssize_t count = ::read(input_, bytes.data(), bytes.size());
    if (count > 0) text_.append(bytes.data(), static_cast<std::size_t>(count));
    return count > 0 || (count < 0 && errno == EINTR);
  }

  const int input_, stop_;
  std::string text_;
};

// One message a line, from whatever thread.
class Speaker {
 public:
  void operator()(const serve::mcp::Json& message) {
    const std::lock_guard lock(mutex_);
    print(message.dump(-1, ' ', false, serve::mcp::Json::error_handler_t::replace) + "\n");
  }

 private:
  std::mutex mutex_;
};

void converse(serve::mcp::Tools& tools, int input, int stop) {
  Speaker speaker;
  const auto conversation = std::make_shared<serve::mcp::Conversation>(tools, "stdio");
  Lines lines(input, stop);
  while (const auto line = lines.next()) {
    if (line->find_first_not_of(" \t\r") == std::string::npos) continue;
    const auto message = service::parse_json(*line);
    if (message) {
      conversation->take(*message, [&](const serve::mcp::Json& sent) { speaker(sent); });
    } else {
      speaker(serve::mcp::error_message(nullptr, serve::mcp::kParseError, message.error().message));
    }
  }
  // A client that closes the input still reads what it has asked for.
  constexpr std::chrono::milliseconds kLook{50};
  while (!StopSignals::stop() && !conversation->wait_until_idle(kLook)) {
  }
  conversation->cancel_all();
}

Result<int> speak(const CommandLine& line, int input) {
  KRL_ASSIGN(const LoadedPlan loaded, load_judge(line));
  const int stop = ::eventfd(0, EFD_CLOEXEC);
  StopSignals signals([stop](StopNews) { ::eventfd_write(stop, 1); });
  Session session(loaded.registry, print_warning,
                  call_scope(loaded.plan.run, StopSignals::cancel()));
  serve::JudgeServiceOptions options;
  options.queue.seeds.secret = secret_seed();
  KRL_ASSIGN(const auto service, serve::JudgeService::open(loaded.plan, session, options));
  serve::mcp::Tools tools(*service, serve::mcp::import_modules(session, child_options().python));
  if (::isatty(input) == 1)
    print_error("kernelrl: a coding agent starts this, and speaks MCP with it: docs/mcp.md\n");
  converse(tools, input, stop);
  return kDone;
}

}  // namespace

int mcp_command(const Words& words) {
  CommandLine line(
      "kernelrl mcp [--plan PLAN | --backend B --tasks PATH]",
      "Judges kernels for a coding agent, which speaks MCP with it on the standard streams:\n"
      "docs/mcp.md. To have it ask: claude mcp add kernelrl -- kernelrl mcp\n");
  add_judge_options(line);
  if (const auto over = line.parse(words)) return *over;
  if (const std::string why = why_no_judge(line); !why.empty()) return line.wrong(why);
  const int input = own_input();
  return exit_code_of(speak(line, input));
}

}  // namespace krl::cli
