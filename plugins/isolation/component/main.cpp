// kernelrl-component FILE ID KIND PARENT: one component in a process of its own. kernelrl starts it and
// listens to it; nobody else does. Descriptor 3 is a listening socket; each connection makes one
// call after the other (component_process.hpp).
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <functional>
#include <kernelrl/broken_pipe_guard.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "plugins/files/descriptor.hpp"
#include "plugins/isolation/component/call.hpp"
#include "plugins/isolation/component/served_component.hpp"
#include "plugins/isolation/messages.hpp"
#include "plugins/process/message_stream.hpp"

namespace {

using namespace krl::isolation;
using nlohmann::json;

// Makes the call and sends its end. False if nobody listens.
bool answer(ServedComponent& component, const json& request, HostCall& call, int connection) {
  const auto end = [&](int code, const char* why, const json& value) {
    return krl::process::write_message(connection, json::array({code, why, value}));
  };
  try {
    return end(KRL_OK, "", component.answer(request.at(0), request.at(1), call));
  } catch (const krl::Failure& failure) {
    return end(failure.code(), failure.what(), nullptr);
  } catch (const std::exception& error) {
    return end(KRL_INTERNAL, error.what(), nullptr);
  } catch (...) {
    return end(KRL_INTERNAL, "something that is not a std::exception", nullptr);
  }
}

void serve(ServedComponent& component, int connection) {
  const krl::BrokenPipeGuard guard;
  const krl::files::Descriptor owned(connection);
  while (const auto request = krl::process::read_message(connection)) {
    HostCall call(connection, request->at(2).get<std::int64_t>());
    if (!answer(component, *request, call, connection)) return;
    if (request->at(0) == "destroy") std::exit(0);
  }
}

// Others of this machine may find the socket; only the process that started this one is served.
bool is_parent(int connection, pid_t parent) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid == parent;
}

// True if accept() may succeed later.
bool is_passing(int error) {
  if (error == EINTR || error == ECONNABORTED) return true;
  return error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOBUFS;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  const pid_t parent = std::atoi(argv[4]);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // with the thread that started it
  if (::getppid() != parent) return 2;
  ::fcntl(kListener, F_SETFD, FD_CLOEXEC);
  ServedComponent component(argv[1], static_cast<std::uint32_t>(std::atoi(argv[3])), argv[2]);
  for (;;) {
    const int connection = ::accept4(kListener, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection >= 0 && is_parent(connection, parent)) {
      std::thread(serve, std::ref(component), connection).detach();
    } else if (connection >= 0) {
      ::close(connection);
    } else if (is_passing(errno)) {
      ::poll(nullptr, 0, 20);  // until other calls have given their descriptors back
    } else {
      return 1;
    }
  }
}
