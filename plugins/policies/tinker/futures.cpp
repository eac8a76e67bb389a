#include "plugins/policies/tinker/futures.hpp"

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <random>

#include "http/client/backoff.hpp"

namespace krl::tinker {
namespace {

using http::Answer;
using std::chrono::milliseconds;

constexpr unsigned kSubmissions = 3;  // submissions of one request whose results fail
constexpr unsigned kUnreadable = 3;   // answers to one question

krl_status code_of(unsigned status) {
  if (status == 401 || status == 402 || status == 403) return KRL_FAILED_PRECONDITION;
  if (status == 404 || status == 410) return KRL_NOT_FOUND;
  if (status >= 500 || status == 408 || status == 409 || status == 425 || status == 429)
    return KRL_UNAVAILABLE;
  return KRL_INVALID_ARGUMENT;
}

double uniform() {
  thread_local std::mt19937_64 random{std::random_device{}()};
  return std::uniform_real_distribution<double>(0, 1)(random);
}

http::Request post(const std::string& path, std::string body) {
  http::Request request;
  request.target = path;
  request.body = std::move(body);
  request.repeatable = true;
  request.headers = {{"Accept", "application/json"}};
  return request;
}

http::Request post(const Submission& submission) {
  http::Request request = post(submission.path, submission.body);
  request.repeatable = submission.repeatable;
  return request;
}

}  // namespace

Patience patience_of(const Context& call, http::Duration limit) {
  Patience patience = Patience::of(limit, [call] { return call.cancelled(); });
  if (call.deadline_ns() != 0) {
    const std::chrono::nanoseconds deadline(call.deadline_ns());
    patience.deadline = std::min(patience.deadline, Patience::Clock::time_point(deadline));
  }
  return patience;
}

Refused::Refused(unsigned status, const std::string& message)
    : Failure(code_of(status), message), status_(status) {}

Futures::Futures(boost::asio::io_context& io, http::Client& client, http::Client& unkept,
                 const http::Retries& retries)
    : io_(io), client_(client), unkept_(unkept), retries_(retries) {}

Refused Futures::refusal(const std::string& path, const Answer& answer) const {
  std::string message = path + " failed with status " + std::to_string(answer.status);
  const std::string words = client_.without_secrets(error_text(answer.body));
  if (!words.empty()) message += ": " + words;
  if (answer.status == 401 || answer.status == 403)
    message += "; policy.api_key names the environment variable that holds the key";
  return {answer.status, message};
}

void Futures::pause(http::Duration time, const Patience& patience, Yield yield) {
  constexpr milliseconds kLook{20};
  const auto end = Patience::Clock::now() + time;
  boost::asio::steady_timer timer(io_);
  for (auto now = Patience::Clock::now(); now < end; now = Patience::Clock::now()) {
    if (patience.cancelled && patience.cancelled()) throw Failure(KRL_CANCELLED, "cancelled");
    if (now >= patience.deadline) {
      throw Failure(KRL_DEADLINE_EXCEEDED,
                    client_.base().text() + " returned no result before the deadline");
    }
    timer.expires_at(std::min({end, patience.deadline, now + kLook}));
    timer.async_wait(yield);
  }
}

std::string Futures::post_until_heard(const Submission& submission, const Patience& patience,
                                      Yield yield) {
  http::Client& client = submission.repeatable ? client_ : unkept_;
  for (unsigned conflicts = 0;; ++conflicts) {
    Answer answer = client.ask_until_served(post(submission), patience, yield);
    if (answer.good()) return std::move(answer.body);
    if (answer.status != 409 || !submission.repeatable || conflicts >= retries_.most)
      throw refusal(submission.path, answer);
    pause(http::backoff(retries_, conflicts + 1, uniform()), patience, yield);
  }
}

void Futures::exchange(const Submission& submission,
                       const std::function<void(const std::string&)>& decode,
                       const Patience& patience, Yield yield) {
  for (unsigned unreadable = 1;; ++unreadable) {
    const std::string body = post_until_heard(submission, patience, yield);
    std::string trouble;
    try {
      return decode(body);
    } catch (const Failure& error) {
      trouble = error.what();
    }
    if (!submission.repeatable || unreadable >= kUnreadable) {
      throw Failure(KRL_UNAVAILABLE, "the answer to " + submission.path +
                                         " violates the protocol: " + trouble + " in \"" +
                                         client_.without_secrets(error_text(body)) + "\"");
    }
    pause(http::backoff(retries_, unreadable, uniform()), patience, yield);
  }
}

// The wait for one result.
class Futures::Wait {
 public:
  Wait(Futures& futures, const Submission& submission, std::string id, const Patience& patience,
       Yield yield)
      : futures_(futures),
        submission_(submission),
        id_(std::move(id)),
        patience_(patience),
        yield_(yield) {}

  // One more exchange; true if it brought the result, decoded.
  bool over(const std::function<void(const std::string&)>& decode) {
    const auto asked = Patience::Clock::now();
    std::optional<Answer> answer;
    std::optional<http::Failure> failure;
    try {
      answer = ask();
    } catch (const http::Failure& thrown) {
      if (thrown.code() != KRL_UNAVAILABLE) throw;  // another try would do no better
      failure = thrown;
    }
    if (failure) {
      if (++troubles_ > futures_.retries_.most) throw *failure;
      back_off({});
    } else if (answer->good()) {
      return take(*answer, decode, asked);
    } else if (answer->status == 408) {
      not_yet(asked);
    } else if (answer->status == 404 || answer->status == 410) {
      submit_again(futures_.refusal(submission_.path, *answer));
    } else if (code_of(answer->status) == KRL_UNAVAILABLE) {
      if (++troubles_ > futures_.retries_.most) throw futures_.refusal(submission_.path, *answer);
      back_off(http::retry_after(answer->header("Retry-After"), std::time(nullptr)));
    } else {
      throw futures_.refusal(submission_.path, *answer);
    }
    return false;
  }

 private:
  Answer ask() {
    return futures_.client_.ask(post(RetrieveFuture::kPath, to_json(RetrieveFuture{id_})),
                                patience_, yield_);
  }

  bool take(const Answer& answer, const std::function<void(const std::string&)>& decode,
            Patience::Clock::time_point asked) {
    if (try_again_from_json(answer.body)) return not_yet(asked), false;
    if (const auto failed = failure_from_json(answer.body)) return fail(*failed), false;
    std::string trouble;
    try {
      decode(answer.body);
      return true;
    } catch (const Failure& error) {
      trouble = error.what();
    }
    if (++unreadable_ >= kUnreadable) {
      throw Failure(KRL_UNAVAILABLE,
                    "the result of " + submission_.path + " violates the protocol: " + trouble);
    }
    back_off({});
    return false;
  }

  // The service answers at once or after having waited itself; in the first case we wait.
  void not_yet(Patience::Clock::time_point asked) {
    troubles_ = 0;
    const bool service_waits = Patience::Clock::now() - asked > std::chrono::seconds(1);
    pace_ = service_waits ? kFirstPace : std::min<http::Duration>(pace_ * 3 / 2, kSlowestPace);
    futures_.pause(pace_, patience_, yield_);
  }

  void fail(const RequestFailed& failed) {
    const std::string message = submission_.path + " failed at the service: " +
                                futures_.client_.without_secrets(failed.error);
    if (failed.category == "user") throw Failure(KRL_INVALID_ARGUMENT, message);
    if (submission_.is_built_upon) throw Failure(KRL_UNAVAILABLE, message);
    submit_again(Failure(KRL_UNAVAILABLE, message));
  }

  void submit_again(const Failure& otherwise) {
    if (!submission_.repeatable || ++submissions_ >= kSubmissions) throw otherwise;
    back_off({});
    id_ = futures_.submit(submission_, patience_, yield_);
  }

  void back_off(std::optional<http::Duration> asked_for) {
    const unsigned nth = std::max(1u, troubles_ + unreadable_ + submissions_);
    futures_.pause(asked_for.value_or(http::backoff(futures_.retries_, nth, uniform())), patience_,
                   yield_);
  }

  static constexpr http::Duration kFirstPace = milliseconds(50), kSlowestPace = milliseconds(1000);

  Futures& futures_;
  const Submission& submission_;
  std::string id_;
  const Patience& patience_;
  Yield yield_;
  unsigned troubles_ = 0;  // one after the other
  unsigned submissions_ = 0, unreadable_ = 0;
  http::Duration pace_ = kFirstPace;
};

void Futures::wait(const Submission& submission, std::string request_id,
                   const std::function<void(const std::string&)>& decode, const Patience& patience,
                   Yield yield) {
  Wait wait(*this, submission, std::move(request_id), patience, yield);
  while (!wait.over(decode)) {
  }
}

}  // namespace krl::tinker
