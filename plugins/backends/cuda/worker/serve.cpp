#include "plugins/backends/cuda/worker/serve.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <thread>

#include "plugins/backends/cuda/worker/device_session.hpp"
#include "plugins/process/message_stream.hpp"

namespace krl::gpu {
using namespace evaluator;
using namespace process;
namespace {

using nlohmann::json;

json trouble(const Trouble& trouble) { return {{"trouble", trouble}}; }

json answer(const Handlers& handlers, const std::string& kind, const json& request) {
  try {
    return handlers.at(kind)(request);
  } catch (const RefusedLaunch& refused) {
    return trouble({refused.code, refused.what(), refused.launch, true, Trouble::kNone});
  } catch (const HostFailure& failure) {
    return trouble({0, failure.what(), 0, false, failure.host});
  } catch (const CudaError& error) {
    return trouble({error.code, error.what(), 0, false, Trouble::kNone});
  } catch (const std::exception& error) {
    return trouble({0, error.what(), 0, false, Trouble::kNone});
  }
}

// Adds the ticket of its request, if that has one.
json answer(const Handlers& handlers, json request) {
  const json ticket = request.value(kTicket, json());
  request.erase(kTicket);
  const auto content = request.begin();
  json result = answer(handlers, content.key(), content.value());
  if (ticket.is_null()) return result;
  return {{kTicket, ticket}, {kAnswer, std::move(result)}};
}

// A call of CUDA's that hangs cannot see that the host is gone. The thread that watches takes no
// signals: a candidate's handler runs in the thread whose work is timed.
void end_with_the_input() {
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread([] {
    pollfd input{STDIN_FILENO, 0, 0};
    while ((input.revents & (POLLHUP | POLLERR)) == 0) ::poll(&input, 1, -1);
    ::_exit(0);
  }).detach();
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace

Handlers session_handlers(const std::unique_ptr<DeviceSession>& session) {
  return {{"load", calls(session, &DeviceSession::load)},
          {"run", calls(session, &DeviceSession::run)},
          {"time", calls(session, &DeviceSession::time)},
          {"time_trials", calls(session, &DeviceSession::time_trials)},
          {"time_called_trial", calls(session, &DeviceSession::time_called_trial)},
          {"wake", calls(session, &DeviceSession::wake)},
          {"call", calls(session, &DeviceSession::call)},
          {"finish", calls(session, &DeviceSession::finish)},
          {"recycle", calls(session, &DeviceSession::recycle)},
          {"empty_launch", calls(session, &DeviceSession::empty_launch)}};
}

int serve(const Handlers& handlers) {
  // Answers have a separate descriptor: what libraries print goes to stderr.
  const int answers = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);  // its messages have a limit; more is lost
  end_with_the_input();
  while (auto request = read_message(STDIN_FILENO)) {
    if (!write_message(answers, answer(handlers, *std::move(request)))) break;
  }
  ::_exit(0);  // after a fault, nothing of CUDA's can be taken down in order
}

}  // namespace krl::gpu
