#include "http/base/failure.hpp"

namespace krl::http {
namespace {

krl_status status_of(Cause cause) {
  switch (cause) {
    case Cause::kCancelled:
      return KRL_CANCELLED;
    case Cause::kDeadline:
      return KRL_DEADLINE_EXCEEDED;
    case Cause::kTooLarge:
      return KRL_RESOURCE_EXHAUSTED;
    case Cause::kTls:
      return KRL_FAILED_PRECONDITION;
    default:
      return KRL_UNAVAILABLE;
  }
}

}  // namespace

Failure::Failure(Cause cause, Phase phase, const std::string& message, std::error_code error)
    : krl::Failure(status_of(cause), message), cause_(cause), phase_(phase), error_(error) {}

}  // namespace krl::http
