// The reason why there is no response.
#pragma once

#include <kernelrl/values.hpp>
#include <string>
#include <system_error>

namespace krl::http {

enum class Cause {
  kAddress,    // the host's name has no address
  kConnect,    // no one listens, no way there, no permission, or a proxy refuses
  kTls,        // no certificate to be trusted, or not TLS at all: a person must act
  kTimeout,    // one of Options::timeouts
  kDeadline,   // Patience's
  kBroken,     // closed or reset in the middle, or what came is not HTTP
  kTooLarge,   // the answer, beyond Options::max_head or max_body
  kCancelled,  // cancelled by Patience
};

// The steps of an exchange, in this order.
enum class Phase { kSlot, kConnect, kHandshake, kSend, kFirstByte, kBody };

// The message describes the request, the server and the event; it never holds a secret. Its code is
// KRL_CANCELLED, KRL_DEADLINE_EXCEEDED, KRL_RESOURCE_EXHAUSTED (kTooLarge), KRL_FAILED_PRECONDITION
// (kTls), else KRL_UNAVAILABLE.
class Failure : public krl::Failure {
 public:
  Failure(Cause cause, Phase phase, const std::string& message, std::error_code error = {})
      : krl::Failure(status_of(cause), message), cause_(cause), phase_(phase), error_(error) {}

  Cause cause() const { return cause_; }
  Phase phase() const { return phase_; }  // from kSend on the server may have got the request
  std::error_code error() const { return error_; }  // the system's, if there is one

 private:
  static krl_status status_of(Cause cause) {
    if (cause == Cause::kCancelled) return KRL_CANCELLED;
    if (cause == Cause::kDeadline) return KRL_DEADLINE_EXCEEDED;
    if (cause == Cause::kTooLarge) return KRL_RESOURCE_EXHAUSTED;
    return cause == Cause::kTls ? KRL_FAILED_PRECONDITION : KRL_UNAVAILABLE;
  }

  Cause cause_;
  Phase phase_;
  std::error_code error_;
};

// The same inside this library, before it is known to which request it belongs: the client turns it
// into a Failure.
struct Trouble {
  Cause cause;
  Phase phase;
  std::string what;
  std::error_code error = {};
};

}  // namespace krl::http
