#include "plugins/backends/docker/engine/engine_failure.hpp"

#include <nlohmann/json.hpp>

namespace krl::docker {
namespace {

constexpr std::size_t kMaxShown = 500;

std::string trimmed(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  if (text.size() > kMaxShown) text.replace(kMaxShown, std::string::npos, "…");
  return text;
}

}  // namespace

std::string message_in(const std::string& body) {
  const auto document = nlohmann::json::parse(body, nullptr, false);
  if (document.is_object()) {
    const auto message = document.find("message");
    if (message != document.end() && message->is_string()) return trimmed(*message);
  }
  return trimmed(body);
}

EngineFailure unreachable(std::string_view what, const std::string& socket,
                          const http::Failure& failure) {
  const std::string start = std::string(what) + ": ";
  const std::error_code error = failure.error();
  const std::string detail = " (" + (error ? error.message() : failure.what()) + ")";
  if (failure.cause() == http::Cause::kCancelled) return {KRL_CANCELLED, "cancelled"};
  if (failure.cause() == http::Cause::kDeadline) {
    return {KRL_UNAVAILABLE, start + "the Docker daemon at " + socket +
                                 " did not answer in time: see its log (journalctl -u docker)"};
  }
  if (error == std::errc::permission_denied) {
    return {KRL_FAILED_PRECONDITION,
            start + "no permission to use " + socket + detail +
                ": join its group (usermod -aG docker $USER, then log in again) or be root"};
  }
  if (error == std::errc::connection_refused || error == std::errc::no_such_file_or_directory ||
      error == std::errc::not_a_socket) {
    return {KRL_UNAVAILABLE, start + "no Docker daemon at " + socket + detail +
                                 ": start it (systemctl start docker), or install it (apt-get "
                                 "install docker.io), or name its socket"};
  }
  return {KRL_UNAVAILABLE, start + "the connection to the Docker daemon at " + socket + " broke" +
                               detail + ": see its log (journalctl -u docker)"};
}

EngineFailure refused(std::string_view what, const http::Request& request,
                      const http::Answer& answer) {
  std::string text = std::string(what) + ": Docker answered " + std::to_string(answer.status) +
                     " to " + request.method + " " + request.target;
  const std::string message = message_in(answer.body);
  if (!message.empty()) text += ": " + message;
  return {KRL_UNAVAILABLE, text, answer.status};
}

}  // namespace krl::docker
