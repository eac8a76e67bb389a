// Docker's Engine API, as much of it as the docker backend needs. Thread-safe. Every call opens a
// connection of its own, so that it outlives restarts of the daemon. Containers are named by us.
//
// Every function throws EngineFailure: the daemon is not there, refuses, or patience ended.
// https://docs.docker.com/engine/api/v1.41/
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "http/base/loop.hpp"
#include "http/client/client.hpp"
#include "plugins/backends/docker/engine/engine_failure.hpp"
#include "plugins/backends/docker/engine/stream_frames.hpp"

namespace krl::docker {

using http::Patience;

inline constexpr const char* kDefaultSocket = "/run/docker.sock";
// Returns the socket of $DOCKER_HOST, as Docker's own programs read it ("unix:///path"), else
// kDefaultSocket.
std::string default_socket();

struct ContainerSummary {
  std::string id;
  std::map<std::string, std::string> labels;
};

// A process to start in a running container.
struct ExecRequest {
  std::vector<std::string> command, environment;
  std::string user;    // "1000:1000"
  std::string folder;  // it starts in
};

struct ExecOutput {
  enum End { kClosed, kDeadline, kTooMuch } end = kClosed;  // kClosed: by the process
  std::string out, err;
};

class Engine {
 public:
  // Asks the daemon which version of the API to speak.
  Engine(std::string socket, const Patience& patience);

  const std::string& socket() const { return socket_; }
  const std::string& version() const { return version_; }  // "20.10.24+dfsg1 (API 1.41)"

  // The hash of the image's content.
  std::optional<std::string> image_id(const std::string& name, const Patience& patience) const;
  // `tar`: a root file system.
  void import_image(const std::string& name, std::string tar, const Patience& patience) const;

  // `specification`: the body of POST /containers/create. A container of this name is a failure.
  void create(const std::string& name, const nlohmann::json& specification,
              const Patience& patience) const;
  void start(const std::string& name, const Patience& patience) const;
  bool running(const std::string& name, const Patience& patience) const;  // false if it is gone
  // SIGKILL to all its processes. That it is gone already is not a failure, here and in remove().
  void kill(const std::string& name, const Patience& patience) const;
  void remove(const std::string& name, const Patience& patience) const;
  // Running or not.
  std::vector<ContainerSummary> containers_with_label(const std::string& label,
                                                      const Patience& patience) const;
  // Holds the container's standard input open for as long as the stream lives; the engine must
  // outlive it.
  http::Stream attach_input(const std::string& name, const Patience& patience) const;

  // Prepares a process in a running container. Returns the exec's id.
  std::string create_exec(const std::string& container, const ExecRequest& request,
                          const Patience& patience) const;
  // Starts the process, writes `input` to it, and reads its output. If this call ends before the
  // process does, the process continues, or may even be started later. Cancelling is a failure, a
  // deadline is not.
  ExecOutput run_exec(const std::string& exec, std::string_view input, const OutputLimits& limits,
                      const Patience& patience) const;
  // Returns how the process ended, if it has; that may be a moment after the end of its output. 126
  // and 127: it could not be started, and its output contains the reason.
  std::optional<int> exit_code(const std::string& exec, const Patience& patience) const;

 private:
  http::Answer ask(std::string_view what, const http::Request& request,
                   const Patience& patience) const;
  // The answer's document; throws unless the status is 2xx.
  nlohmann::json demand(std::string_view what, const http::Request& request,
                        const Patience& patience) const;
  http::Stream open_stream(std::string_view what, const http::Request& request,
                           const Patience& patience) const;
  std::string path(const std::string& rest) const { return prefix_ + rest; }

  const std::string socket_;
  mutable http::Loop loop_;
  mutable http::Client client_;
  std::string version_;
  std::string prefix_;  // "/v1.41"
};

// The version of the API to speak with a daemon that knows all from `oldest` to `newest`: the one
// this client was written for, or the nearest. "1.9" is older than "1.41".
std::string api_version(const std::string& oldest, const std::string& newest);

}  // namespace krl::docker
