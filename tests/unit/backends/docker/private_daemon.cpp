#include "tests/unit/backends/docker/private_daemon.hpp"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <stdexcept>
#include <thread>

#include "plugins/backends/docker/engine/engine.hpp"
#include "plugins/files/file.hpp"

namespace krl::docker::testing {
using namespace process;
namespace {

namespace fs = std::filesystem;

constexpr const char* kDaemons[] = {"/usr/sbin/dockerd", "/usr/bin/dockerd"};
constexpr int kCapSysAdmin = 21;  // of linux/capability.h: to mount
constexpr std::chrono::seconds kStartLimit{60}, kStopLimit{30};
constexpr std::chrono::milliseconds kPause{10};

std::string daemon_program() {
  for (const char* program : kDaemons) {
    if (fs::exists(program)) return program;
  }
  return {};
}

// Root of a container may not.
bool may_mount() {
  constexpr std::string_view kEffective = "CapEff:\t";
  const std::string status = files::read_file_or_empty("/proc/self/status");
  const std::size_t at = status.find(kEffective);
  if (at == std::string::npos) return false;
  return std::stoull(status.substr(at + kEffective.size()), nullptr, 16) >> kCapSysAdmin & 1;
}

bool answers(const std::string& socket) {
  try {
    const Engine engine(socket, Patience::of(kStartLimit));
    return true;
  } catch (const EngineFailure&) {
    return false;
  }
}

Command command_of(const fs::path& folder, int log) {
  return {
      {"/usr/bin/setpriv", "--pdeathsig", "TERM", daemon_program(),
       "--data-root=" + (folder / "data").string(), "--exec-root=" + (folder / "exec").string(),
       "--pidfile=" + (folder / "pid").string(), "--host=unix://" + (folder / "socket").string(),
       "--iptables=false", "--bridge=none", "--ip-masq=false"},
      {"PATH=/usr/sbin:/usr/bin:/sbin:/bin"},
      {{log, 1}, {log, 2}}};
}

}  // namespace

std::string PrivateDaemon::obstacle() {
  if (::geteuid() != 0) return "skipped: a Docker daemon needs root";
  if (!may_mount()) return "skipped: a Docker daemon needs the capability SYS_ADMIN";
  if (daemon_program().empty()) return "skipped: no dockerd (package docker.io)";
  return {};
}

PrivateDaemon::PrivateDaemon() {
  std::string pattern = fs::temp_directory_path() / "krl-docker-XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
  folder_ = pattern;
  const Descriptor log(
      ::open((folder_ / "log").c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600));
  process_ = std::make_unique<process::Subprocess>(command_of(folder_, log.get()));
  const auto deadline = Patience::Clock::now() + kStartLimit;
  while (!answers(socket())) {
    if (!process_->running() || Patience::Clock::now() > deadline) {
      throw std::runtime_error("dockerd does not start: " + last_words());
    }
    std::this_thread::sleep_for(kPause);
  }
}

PrivateDaemon::~PrivateDaemon() {
  stop();
  std::error_code error;
  fs::remove_all(folder_, error);
}

void PrivateDaemon::stop() {
  if (process_ == nullptr) return;
  ::kill(process_->id(), SIGTERM);
  const auto deadline = Patience::Clock::now() + kStopLimit;
  process_->wait(std::chrono::hours(24), [&] { return Patience::Clock::now() > deadline; });
  process_.reset();
}

std::string PrivateDaemon::last_words() const {
  constexpr std::size_t kShown = 1000;
  const std::string log = files::read_file_or_empty(folder_ / "log");
  return log.substr(log.size() - std::min(log.size(), kShown));
}

}  // namespace krl::docker::testing
