#include "plugins/backends/docker/engine/engine.hpp"

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <utility>

namespace krl::docker {
namespace {

using nlohmann::json;

constexpr std::chrono::seconds kStartLimit{60};  // for Docker to take up a process
constexpr char kWrittenFor[] = "1.41";           // the version of Docker 20.10, which Debian 12 has

std::pair<int, int> numbers_of(const std::string& version) {
  int major = 0, minor = 0;
  std::sscanf(version.c_str(), "%d.%d", &major, &minor);
  return {major, minor};
}

http::Url url_of(const std::string& socket) {
  http::Url url;
  url.scheme = http::Url::kUnix;
  url.path = socket;
  return url;
}

http::Options client_options() {
  http::Options options;
  options.timeouts = http::Timeouts::none();  // the callers' patience is the limit
  options.keep_idle = http::Duration::zero();
  return options;
}

std::string text_at(const json& document, const char* key) {
  const auto found = document.find(key);
  return found != document.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace

std::string default_socket() {
  constexpr std::string_view kScheme = "unix://";
  const char* host = std::getenv("DOCKER_HOST");
  if (host == nullptr || !std::string_view(host).starts_with(kScheme)) return kDefaultSocket;
  return host + kScheme.size();
}

std::string api_version(const std::string& oldest, const std::string& newest) {
  if (numbers_of(newest) < numbers_of(kWrittenFor)) return newest;
  if (numbers_of(oldest) > numbers_of(kWrittenFor)) return oldest;
  return kWrittenFor;
}

Engine::Engine(std::string socket, const Patience& patience)
    : socket_(std::move(socket)), client_(loop_.io(), url_of(socket_), client_options()) {
  const json version = demand("asking Docker for its version", {"GET", "/version", {}}, patience);
  const std::string api =
      api_version(text_at(version, "MinAPIVersion"), text_at(version, "ApiVersion"));
  prefix_ = "/v" + api;
  version_ = text_at(version, "Version") + " (API " + api + ")";
}

std::optional<std::string> Engine::image_id(const std::string& name,
                                            const Patience& patience) const {
  const http::Request request{"GET", path("/images/" + http::percent_encoded(name) + "/json"), {}};
  const std::string what = "looking for the image " + name;
  const http::Answer answer = ask(what, request, patience);
  if (answer.status == 404) return std::nullopt;
  if (!answer.good()) throw refused(what, request, answer);
  return text_at(json::parse(answer.body, nullptr, false), "Id");
}

void Engine::import_image(const std::string& name, std::string tar,
                          const Patience& patience) const {
  const http::Request request{"POST",
                              path("/images/create?fromSrc=-&repo=" + http::percent_encoded(name)),
                              std::move(tar), "application/x-tar"};
  const std::string what = "importing the image " + name;
  const http::Answer answer = ask(what, request, patience);
  // Progress follows the status, and a failure of the import follows that.
  if (!answer.good() || answer.body.find("\"errorDetail\"") != std::string::npos) {
    throw refused(what, request, answer);
  }
}

void Engine::create(const std::string& name, const json& specification,
                    const Patience& patience) const {
  demand("creating a container",
         {"POST", path("/containers/create?name=" + http::percent_encoded(name)),
          specification.dump()},
         patience);
}

void Engine::start(const std::string& name, const Patience& patience) const {
  demand("starting a container", {"POST", path("/containers/" + name + "/start"), {}}, patience);
}

bool Engine::running(const std::string& name, const Patience& patience) const {
  try {
    const json container = demand("looking at a container",
                                  {"GET", path("/containers/" + name + "/json"), {}}, patience);
    return container.value("/State/Running"_json_pointer, false);
  } catch (const EngineFailure& failure) {
    if (failure.gone()) return false;
    throw;
  }
}

void Engine::kill(const std::string& name, const Patience& patience) const {
  try {
    demand("killing a container", {"POST", path("/containers/" + name + "/kill"), {}}, patience);
  } catch (const EngineFailure& failure) {
    if (!failure.gone()) throw;
  }
}

void Engine::remove(const std::string& name, const Patience& patience) const {
  try {
    demand("removing a container",
           {"DELETE", path("/containers/" + name + "?force=true&v=true"), {}}, patience);
  } catch (const EngineFailure& failure) {
    if (!failure.gone()) throw;  // 409: it is being removed
  }
}

std::vector<ContainerSummary> Engine::containers_with_label(const std::string& label,
                                                            const Patience& patience) const {
  const std::string filter = http::percent_encoded(json{{"label", {label}}}.dump());
  const json list =
      demand("listing containers", {"GET", path("/containers/json?all=true&filters=" + filter), {}},
             patience);
  std::vector<ContainerSummary> containers;
  for (const json& entry : list) {
    ContainerSummary& container = containers.emplace_back();
    container.id = text_at(entry, "Id");
    container.labels = entry.value("Labels", container.labels);
  }
  return containers;
}

http::Stream Engine::attach_input(const std::string& name, const Patience& patience) const {
  return open_stream("attaching to a container",
                     {"POST", path("/containers/" + name + "/attach?stream=true&stdin=true"), {}},
                     patience);
}

std::string Engine::create_exec(const std::string& container, const ExecRequest& request,
                                const Patience& patience) const {
  const json body = {{"AttachStdin", true},    {"AttachStdout", true},
                     {"AttachStderr", true},   {"Tty", false},
                     {"Cmd", request.command}, {"Env", request.environment},
                     {"User", request.user},   {"WorkingDir", request.folder}};
  const http::Request create{"POST", path("/containers/" + container + "/exec"), body.dump()};
  return text_at(demand("preparing a process in a container", create, patience), "Id");
}

ExecOutput Engine::run_exec(const std::string& exec, std::string_view input,
                            const OutputLimits& limits, const Patience& patience) const {
  const char* const what = "running a process in a container";
  http::Stream stream = open_stream(
      what, {"POST", path("/exec/" + exec + "/start"), R"({"Detach":false,"Tty":false})"},
      Patience::of(kStartLimit));
  StreamFrames frames(limits);
  ExecOutput output;
  try {
    loop_.run([&](http::Yield yield) {
      stream.exchange(
          input, [&](std::string_view bytes) { return frames.feed(bytes); }, patience, yield);
    });
  } catch (const http::Failure& failure) {
    if (failure.cause() != http::Cause::kDeadline) throw unreachable(what, socket_, failure);
    output.end = ExecOutput::kDeadline;
  }
  if (frames.malformed()) {
    throw EngineFailure(KRL_UNAVAILABLE, std::string(what) + ": Docker sent no frames of output");
  }
  if (frames.too_much()) output.end = ExecOutput::kTooMuch;
  output.out = std::move(frames.out);
  output.err = std::move(frames.err);
  return output;
}

std::optional<int> Engine::exit_code(const std::string& exec, const Patience& patience) const {
  const json state = demand("asking how a process in a container ended",
                            {"GET", path("/exec/" + exec + "/json"), {}}, patience);
  const auto code = state.find("ExitCode");
  if (state.value("Running", true) || code == state.end() || !code->is_number_integer()) {
    return std::nullopt;
  }
  return code->get<int>();
}

http::Answer Engine::ask(std::string_view what, const http::Request& request,
                         const Patience& patience) const {
  try {
    return loop_.run([&](http::Yield yield) { return client_.ask(request, patience, yield); });
  } catch (const http::Failure& failure) {
    throw unreachable(what, socket_, failure);
  }
}

json Engine::demand(std::string_view what, const http::Request& request,
                    const Patience& patience) const {
  const http::Answer answer = ask(what, request, patience);
  if (!answer.good()) throw refused(what, request, answer);
  if (answer.body.empty()) return {};
  json document = json::parse(answer.body, nullptr, false);
  if (document.is_discarded()) {
    throw EngineFailure(KRL_UNAVAILABLE, std::string(what) + ": " + socket_ +
                                             " does not speak Docker's API: it answered " +
                                             message_in(answer.body));
  }
  return document;
}

http::Stream Engine::open_stream(std::string_view what, const http::Request& request,
                                 const Patience& patience) const {
  try {
    http::Upgraded upgraded =
        loop_.run([&](http::Yield yield) { return client_.upgrade(request, patience, yield); });
    if (!upgraded.stream) throw refused(what, request, upgraded.answer);
    return *std::move(upgraded.stream);
  } catch (const http::Failure& failure) {
    throw unreachable(what, socket_, failure);
  }
}

}  // namespace krl::docker
