// Waiting in a coroutine of the loop.
#pragma once

#include <string>

#include "http/client/client.hpp"

namespace krl::openai {

// Throws krl::Failure if the caller has lost its patience: KRL_CANCELLED, or KRL_DEADLINE_EXCEEDED
// with `what` it was waiting for.
void check_patience(const http::Patience& patience, const std::string& what);

// Waits for `time`, in steps of at most http::kCancelPoll. Throws as check_patience(), at once if
// the deadline would come first.
void wait(boost::asio::io_context& io, http::Duration time, const http::Patience& patience,
          const std::string& what, http::Yield yield);

// Returns a random number in [0, 1) for http::backoff(), another one each time.
double jitter();

}  // namespace krl::openai
