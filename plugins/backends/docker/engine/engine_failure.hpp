// Errors between kernelrl and Docker, with messages that say what to do. Pure.
#pragma once

#include <kernelrl/values.hpp>
#include <string>
#include <string_view>

#include "http/base/failure.hpp"
#include "http/base/message.hpp"

namespace krl::docker {

// KRL_CANCELLED if we were, KRL_FAILED_PRECONDITION if a person must act first (permission, image),
// else KRL_UNAVAILABLE.
class EngineFailure : public Failure {
 public:
  EngineFailure(krl_status code, const std::string& message, unsigned http_status = 0)
      : Failure(code, message), http_status_(http_status) {}

  unsigned http_status() const { return http_status_; }  // 0: there was no answer
  // The container, exec or image is not there, or the container does not run.
  bool gone() const { return http_status_ == 404 || http_status_ == 409; }

 private:
  unsigned http_status_;
};

// `what` was to be done: "creating a container".
EngineFailure unreachable(std::string_view what, const std::string& socket,
                          const http::Failure& failure);
EngineFailure refused(std::string_view what, const http::Request& request,
                      const http::Answer& answer);

// Docker's own words in an answer's body: {"message": "…"}; else the body itself.
std::string message_in(const std::string& body);

}  // namespace krl::docker
