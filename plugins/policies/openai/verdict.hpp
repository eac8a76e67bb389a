// Decides what to do after a failed try. Pure.
#pragma once

#include <kernelrl/abi.h>

#include <ctime>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "http/base/failure.hpp"
#include "http/base/message.hpp"
#include "http/client/options.hpp"

namespace krl::openai {

struct Verdict {
  enum Next {
    kAnswered,
    kAgain,      // after a while
    kElsewhere,  // the server is failing: it is paused, and another, or later the same, is asked
    kAtOnce,     // retry with another body; not counted as a try
    kNever,
  };
  Next next = kAnswered;
  krl_status status = KRL_OK;  // for kNever
  std::string why;
  std::optional<http::Duration> wait;  // for kAgain: the wait that the server asked for

  static Verdict never(krl_status status, std::string why) {
    return {kNever, status, std::move(why), {}};
  }
};

Verdict verdict_of(const http::Failure& failure);

// Returns the status of an error in the body of an answer whose own status is 200: a gateway sends
// these for the provider behind it. It is the HTTP status that the error names, else 500; nothing
// without an error.
std::optional<unsigned> status_of_error(const nlohmann::json& answer);

// Judges an answer whose status is not 2xx; `why` is its complaint.
Verdict verdict_of(const http::Answer& answer, std::string why, std::time_t now);

}  // namespace krl::openai
