// Requests that take time: each is submitted, which gives a promise, and its result is asked for
// until it is there. Errors come in both places, and what can be repaired by waiting or by
// submitting again is repaired here.
//
//   at       status             meaning
//   submit   408, 429, 5xx      busy: again after a while, if that is harmless
//   submit   409                the service is at it: again after a while
//   retrieve 408, "try_again"   not there yet
//   retrieve 404, 410           the service does not know of it (any more): submitted again
//   retrieve 409, 429, 5xx      busy: asked again after a while
//   both     other 4xx          final
//   retrieve {"error", …}       failed: final if the user is to blame, or something builds upon it;
//                               else submitted again
//
// Submitting again posts the same bytes, the same seq_id among them. Used by the coroutines of one
// io_context.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <kernelrl/policy.hpp>
#include <optional>
#include <string>

#include "http/client/client.hpp"
#include "plugins/policies/tinker/json.hpp"

namespace krl::tinker {

using http::Patience;
using http::Yield;

// The patience of a call of the host's, which takes `limit` at most.
Patience patience_of(const Context& call, http::Duration limit);

// The request, byte for byte the same each time.
struct Submission {
  std::string path;
  std::string body;
  // Posting it twice does the same as once.
  bool repeatable = true;
  // Later submissions build on it: if it fails, repeating it now would be too late.
  bool is_built_upon = false;
};

// The service's final no. Its code is KRL_FAILED_PRECONDITION where no request would be taken (401,
// 402, 403), KRL_NOT_FOUND (404, 410), KRL_UNAVAILABLE (busy for too long), else
// KRL_INVALID_ARGUMENT.
class Refused : public Failure {
 public:
  Refused(unsigned status, const std::string& message);
  unsigned status() const { return status_; }

 private:
  unsigned status_;
};

class Futures {
 public:
  // Both clients outlive this; `retries` as for them. `unkept` uses a new connection each time: the
  // server may close a kept one while we post, and a request that is not repeatable is then lost.
  Futures(boost::asio::io_context& io, http::Client& client, http::Client& unkept,
          const http::Retries& retries);

  // Posts a request that is answered at once, and returns the decoded answer. Throws Refused,
  // http::Failure, and Failure (KRL_UNAVAILABLE) if the answer violates the protocol.
  template <class T>
  T ask(const Submission& submission, const Patience& patience, Yield yield) {
    std::optional<T> decoded;
    exchange(
        submission, [&](const std::string& body) { decoded.emplace(from_json<T>(body)); }, patience,
        yield);
    return *std::move(decoded);
  }

  // Posts a request; the id of its promise. Throws as ask() does.
  std::string submit(const Submission& submission, const Patience& patience, Yield yield) {
    return ask<Promise>(submission, patience, yield).request_id;
  }

  // Returns the decoded result of a submission. Throws as ask() does, and Failure with
  // KRL_INVALID_ARGUMENT or KRL_UNAVAILABLE if the service reports that it failed.
  template <class T>
  T result(const Submission& submission, std::string request_id, const Patience& patience,
           Yield yield) {
    std::optional<T> decoded;
    wait(
        submission, std::move(request_id),
        [&](const std::string& body) { decoded.emplace(from_json<T>(body)); }, patience, yield);
    return *std::move(decoded);
  }

  template <class T>
  T submit_and_wait(const Submission& submission, const Patience& patience, Yield yield) {
    return result<T>(submission, submit(submission, patience, yield), patience, yield);
  }

  // Waits for a time. Throws Failure (KRL_CANCELLED, KRL_DEADLINE_EXCEEDED).
  void pause(http::Duration time, const Patience& patience, Yield yield);

 private:
  class Wait;
  void exchange(const Submission& submission, const std::function<void(const std::string&)>& decode,
                const Patience& patience, Yield yield);
  std::string post_until_heard(const Submission& submission, const Patience& patience, Yield yield);
  void wait(const Submission& submission, std::string request_id,
            const std::function<void(const std::string&)>& decode, const Patience& patience,
            Yield yield);
  Refused refusal(const std::string& path, const http::Answer& answer) const;

  boost::asio::io_context& io_;
  http::Client& client_;
  http::Client& unkept_;
  http::Retries retries_;
};

}  // namespace krl::tinker
