#include "http/base/failure.hpp"

namespace krl::http {
namespace {

krl_status status_of(Cause cause) {
  if (cause == Cause::kCancelled) return KRL_CANCELLED;
  if (cause == Cause::kDeadline) return KRL_DEADLINE_EXCEEDED;
  if (cause == Cause::kTooLarge) return KRL_RESOURCE_EXHAUSTED;
  return cause == Cause::kTls ? KRL_FAILED_PRECONDITION : KRL_UNAVAILABLE;
}

}  // namespace

Failure::Failure(Cause cause, Phase phase, const std::string& message, std::error_code error)
    : krl::Failure(status_of(cause), message), cause_(cause), phase_(phase), error_(error) {}

}  // namespace krl::http
