#include "plugins/isolation/component_process.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <kernelrl/broken_pipe_guard.hpp>
#include <set>
#include <utility>

#include "plugins/isolation/messages.hpp"
#include "plugins/process/installed_files.hpp"
#include "plugins/process/message_stream.hpp"

namespace krl::isolation {
namespace {

using nlohmann::json;
using process::read_message;
using process::write_message;
using std::chrono::milliseconds;

constexpr milliseconds kPoll{20};              // between looks at whether a call is cancelled
constexpr milliseconds kMessage{60'000};       // for the rest of a message that has begun
constexpr milliseconds kEnd{2'000};            // for a cancelled call, or the process, to end
constexpr std::chrono::seconds kFarewell{60};  // for destroy()

// The calls after which another process could not go on in this one's place.
const std::set<std::string> kLearning = {"fit", "load", "forward_backward", "optimizer_step",
                                         "adopt_weights"};

const char kHere = 0;  // an address within this plugin

// A listening socket with an address of its own.
files::Descriptor listener(sockaddr_un& address, socklen_t& size) {
  files::Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  address.sun_family = AF_UNIX;
  size = sizeof address.sun_family;  // Linux then chooses an abstract address
  if (::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), size) != 0)
    throw Failure(KRL_UNAVAILABLE, "no socket can be made for an isolated component");
  size = sizeof address;
  ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size);
  ::listen(socket.get(), SOMAXCONN);
  return socket;
}

process::Command command_of(const Subject& subject, int listener) {
  const process::InstalledFiles files(&kHere, "isolated components");
  process::Command command{{files.worker("kernelrl-component"), subject.file, subject.component,
                            std::to_string(subject.kind), std::to_string(::getpid())},
                           {},
                           {{listener, kListener}, {STDERR_FILENO, 1}, {STDERR_FILENO, 2}}};
  for (char** variable = environ; *variable != nullptr; ++variable)
    command.environment.emplace_back(*variable);
  return command;
}

bool is_readable(int descriptor, milliseconds limit) {
  pollfd ready{descriptor, POLLIN, 0};
  return ::poll(&ready, 1, static_cast<int>(limit.count())) > 0;
}

// Passes on a log line, a metric or progress. False if the event is another one.
bool report(const std::string& name, const json& value, const Context* context) {
  if (name != "log" && name != "metric" && name != "progress") return false;
  if (context == nullptr) return true;
  const krl_call* c = context->c();
  if (name == "log")
    c->log(c, value.at(0).get<std::int32_t>(), to_c(value.at(1).get_ref<const std::string&>()));
  else if (name == "metric")
    context->metric(value.at(0).get_ref<const std::string&>(), value.at(1).get<double>());
  else
    context->progress(value.at(0).get<double>(), value.at(1).get_ref<const std::string&>());
  return true;
}

}  // namespace

struct ComponentProcess::Running {
  sockaddr_un address{};
  socklen_t address_size = 0;
  std::mutex mutex;  // guards the members below
  std::optional<process::Subprocess> child;
  std::vector<files::Descriptor> idle;  // connections

  // Throws Ended if the process is gone, and KRL_UNAVAILABLE if kernelrl has no descriptor left.
  files::Descriptor connection() {
    {
      const std::lock_guard lock(mutex);
      if (!idle.empty()) {
        files::Descriptor last = std::move(idle.back());
        idle.pop_back();
        return last;
      }
    }
    files::Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!socket)
      throw Failure(KRL_UNAVAILABLE, std::string("no socket for a call: ") + std::strerror(errno));
    const auto* where = reinterpret_cast<const sockaddr*>(&address);
    if (::connect(socket.get(), where, address_size) != 0) throw Ended();
    return socket;
  }
  void give_back(files::Descriptor connection) {
    const std::lock_guard lock(mutex);
    idle.push_back(std::move(connection));
  }
  bool is_alive() {
    const std::lock_guard lock(mutex);
    return child->running();
  }
  // Lets it end by itself for so long, and returns how it ended.
  std::string end(milliseconds limit) {
    const std::lock_guard lock(mutex);
    for (const auto until = std::chrono::steady_clock::now() + limit;
         child->running() && std::chrono::steady_clock::now() < until;)
      ::poll(nullptr, 0, 1);
    const bool silent = child->running();
    child->kill();
    return silent ? "stopped answering and was killed" : child->wait(milliseconds(0)).description();
  }
};

ComponentProcess::ComponentProcess(Subject subject, const Context& context)
    : subject_(std::move(subject)) {
  running_ = start(&context);
}

ComponentProcess::~ComponentProcess() {
  if (!running_) return;
  try {
    exchange(*running_, "destroy", nullptr, nullptr, {});
  } catch (...) {  // its end is all that is wanted
  }
  running_->end(kEnd);
}

std::shared_ptr<ComponentProcess::Running> ComponentProcess::start(const Context* context) {
  auto process = std::make_shared<Running>();
  {
    const files::Descriptor socket = listener(process->address, process->address_size);
    starter_.run([&] { process->child.emplace(command_of(subject_, socket.get())); });
  }  // the child alone listens, so that its end is seen
  try {
    exchange(*process, "create", subject_.options, context, {});
  } catch (const Ended&) {
    report_end(process, "create");
  }
  return process;
}

std::shared_ptr<ComponentProcess::Running> ComponentProcess::running(const Context* context) {
  const std::lock_guard lock(mutex_);
  if (running_ && !running_->is_alive()) {
    ending_ = running_->end(milliseconds(0));
    running_.reset();
  }
  if (running_) return running_;
  if (irreplaceable_) {
    throw Failure(KRL_FAILED_PRECONDITION,
                  "the process of '" + subject_.component + "' " + ending_ +
                      ", and what it had learned is lost: resume the run from its last checkpoint");
  }
  running_ = start(context);
  return running_;
}

json ComponentProcess::call(const std::string& name, const json& arguments, const Context* context,
                            const Events& events) {
  const auto process = running(context);
  try {
    json value = exchange(*process, name, arguments, context, events);
    if (kLearning.contains(name)) {
      const std::lock_guard lock(mutex_);
      irreplaceable_ = true;
    }
    return value;
  } catch (const Ended&) {
    report_end(process, name);
  }
}

json ComponentProcess::exchange(Running& process, const std::string& name, const json& arguments,
                                const Context* context, const Events& events) {
  const BrokenPipeGuard guard;
  files::Descriptor connection = process.connection();
  const std::int64_t deadline = context == nullptr ? 0 : context->deadline_ns();
  if (!write_message(connection.get(), json::array({name, arguments, deadline}))) throw Ended();
  const auto latest = std::chrono::steady_clock::now() + kFarewell;
  try {
    for (;;) {
      if (context != nullptr) context->throw_if_cancelled();
      if (name == "destroy" && std::chrono::steady_clock::now() > latest) throw Ended();
      if (!is_readable(connection.get(), kPoll)) {
        // A child of the process may hold the connection open after its end.
        if (!process.is_alive() && !is_readable(connection.get(), milliseconds(0))) throw Ended();
        continue;
      }
      const auto message = read_message(connection.get(), kMessage);
      if (!message) throw Ended();
      if (message->size() == 3) {
        process.give_back(std::move(connection));
        if (message->at(0) == KRL_OK) return message->at(2);
        throw Failure(message->at(0).get<krl_status>(), message->at(1).get<std::string>());
      }
      const auto event = message->at(0).get<std::string>();
      if (report(event, message->at(1), context)) continue;
      const json reply = events.at(event)(message->at(1));
      if (!reply.is_null() && !write_message(connection.get(), reply)) throw Ended();
    }
  } catch (const Ended&) {
    throw;
  } catch (...) {
    if (connection) settle(process, connection.get());
    throw;
  }
}

// After a call that is given up: waits until the component has ended it, or ends the process.
void ComponentProcess::settle(Running& process, int connection) {
  ::shutdown(connection, SHUT_WR);  // is what cancels it
  const auto until = std::chrono::steady_clock::now() + kEnd;
  while (std::chrono::steady_clock::now() < until) {
    if (!is_readable(connection, kPoll)) continue;
    const auto message = read_message(connection, kEnd);
    if (!message || message->size() == 3) return;
  }
  process.end(milliseconds(0));
}

void ComponentProcess::report_end(const std::shared_ptr<Running>& process,
                                  const std::string& during) {
  const std::string ending = process->end(kEnd);
  const std::string what =
      "the process of '" + subject_.component + "' " + ending + " during " + during + "()";
  if (during == "create") throw Failure(KRL_UNAVAILABLE, what);  // it is not running_ yet
  const std::lock_guard lock(mutex_);
  if (running_ == process) {
    running_.reset();
    ending_ = ending;
  }
  if (!irreplaceable_) throw Failure(KRL_UNAVAILABLE, what);
  throw Failure(
      KRL_FAILED_PRECONDITION,
      what + ", and what it had learned is lost: resume the run from its last checkpoint");
}

}  // namespace krl::isolation
