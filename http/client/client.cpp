#include "http/client/client.hpp"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <random>
#include <variant>

#include "http/base/secrets.hpp"
#include "http/client/backoff.hpp"
#include "http/client/connector.hpp"
#include "http/client/exchange.hpp"
#include "http/client/pool.hpp"
#include "http/client/requests.hpp"

namespace krl::http {
namespace {

template <class T>
bool is_one_of(T value, std::initializer_list<T> values) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

bool is_repeatable(const Request& request) {
  return request.repeatable ||
         is_one_of<std::string_view>(request.method, {"GET", "HEAD", "PUT", "DELETE", "OPTIONS"});
}

// The result of one try.
using Outcome = std::variant<Answer, Failure>;

// True if another try may end otherwise and does no harm.
bool may_be_tried_again(const Outcome& outcome, bool repeatable) {
  if (const auto* answer = std::get_if<Answer>(&outcome)) {
    return is_one_of<unsigned>(answer->status, {425, 429, 503, 529}) ||
           (repeatable && is_one_of<unsigned>(answer->status, {408, 500, 502, 504}));
  }
  const auto& failure = std::get<Failure>(outcome);
  const Cause cause = failure.cause();
  if (cause == Cause::kTimeout || cause == Cause::kBroken)
    return repeatable || failure.phase() < Phase::kSend;
  return cause == Cause::kAddress || cause == Cause::kConnect;
}

}  // namespace

class Client::Implementation {
 public:
  Implementation(boost::asio::io_context& io, Url base, Options options)
      : io_(io),
        base_(std::move(base)),
        options_(std::move(options)),
        proxy_(options_.proxies.proxy_for(base_)),
        head_(common_head(base_, options_, proxy_)),
        connector_(io, base_, options_, proxy_),
        pool_(io, options_) {
    for (const Header& header : options_.secret_headers) secrets_.add_value_of(header);
    secrets_.add_login_of(base_);
    if (proxy_) secrets_.add_login_of(*proxy_);
  }

  Answer ask(const Request& request, const OnBody* on_body, const Patience& patience, Yield yield) {
    const Message message = message_of(request, head_, false);
    return named(request, [&] {
      Limits limits(watch_, patience);
      const Pool::Turn turn = pool_.begin_turn(limits, yield);
      if (auto kept = pool_.take()) {
        try {
          return exchange_on(std::move(kept), message, on_body, limits, yield);
        } catch (const Trouble& trouble) {
          if (!closed_early(trouble) || !is_repeatable(request)) throw;
        }
      }
      return exchange_on(connector_.connect(limits, yield), message, on_body, limits, yield);
    });
  }

  Answer ask_until_served(const Request& request, const Patience& patience, Yield yield) {
    for (unsigned tries = 1;; ++tries) {
      Outcome outcome = outcome_of(request, patience, yield);
      const Duration wait = wait_after(outcome, tries);
      if (tries > options_.retries.most || !may_be_tried_again(outcome, is_repeatable(request)) ||
          wait >= patience.deadline - Patience::Clock::now()) {
        if (const auto* failure = std::get_if<Failure>(&outcome)) throw *failure;
        return std::get<Answer>(std::move(outcome));
      }
      if (options_.on_retry) tell(request, outcome, wait);
      named(request, [&] {
        Limits limits(watch_, patience);
        Signal(io_, Patience::Clock::now() + wait).wait(limits, yield);
      });
    }
  }

  Upgraded upgrade(const Request& request, const Patience& patience, Yield yield) {
    const Message message = message_of(request, head_, true);
    return named(request, [&]() -> Upgraded {
      Limits limits(watch_, patience);
      const Pool::Turn turn = pool_.begin_turn(limits, yield);
      auto transport = connector_.connect(limits, yield);
      auto [answer, is_usable, rest] =
          exchange(*transport, message, nullptr, options_, limits, yield);
      if (answer.status != 101 && answer.status != 200)
        return {cleaned(std::move(answer)), std::nullopt};
      return {std::move(answer),
              Stream(io_, std::move(transport), std::move(rest), place_of(request))};
    });
  }

  std::string without_secrets(std::string text) const {
    return secrets_.removed_from(std::move(text));
  }
  const Url& base() const { return base_; }

 private:
  Outcome outcome_of(const Request& request, const Patience& patience, Yield yield) {
    try {
      return ask(request, nullptr, patience, yield);
    } catch (const Failure& failure) {
      return failure;
    }
  }

  Answer exchange_on(std::unique_ptr<Transport> transport, const Message& message,
                     const OnBody* on_body, Limits& limits, Yield yield) {
    auto [answer, is_usable, rest] =
        exchange(*transport, message, on_body, options_, limits, yield);
    if (is_usable) pool_.keep(std::move(transport));
    return cleaned(std::move(answer));
  }

  Duration wait_after(const Outcome& outcome, unsigned tries) {
    const double uniform = std::uniform_real_distribution<double>(0, 1)(random_);
    if (const auto* answer = std::get_if<Answer>(&outcome)) {
      const auto said = retry_after(answer->header("Retry-After"), std::time(nullptr));
      if (said) return *said + backoff(options_.retries, 1, uniform);
    }
    return backoff(options_.retries, tries, uniform);
  }

  void tell(const Request& request, const Outcome& outcome, Duration wait) const {
    const auto* failure = std::get_if<Failure>(&outcome);
    char text[64];
    if (failure == nullptr)
      std::snprintf(text, sizeof text, ": it answered %u", std::get<Answer>(outcome).status);
    std::string what = failure != nullptr ? failure->what() : place_of(request) + text;
    std::snprintf(text, sizeof text, "; tried again in %.1f s",
                  std::chrono::duration<double>(wait).count());
    options_.on_retry(without_secrets(what + text));
  }

  Answer cleaned(Answer answer) const {
    if (!answer.good()) secrets_.remove_from(answer);
    return answer;
  }

  // Does work(), and turns its Trouble into a Failure of this request.
  template <class Work>
  std::invoke_result_t<const Work&> named(const Request& request, const Work& work) const {
    try {
      return work();
    } catch (const Trouble& trouble) {
      throw Failure(trouble.cause, trouble.phase,
                    without_secrets(place_of(request) + ": " + trouble.what), trouble.error);
    }
  }

  // "POST http://host/v1/completions"; a query may hold a key.
  std::string place_of(const Request& request) const {
    return request.method + ' ' + base_.text() + request.target.substr(0, request.target.find('?'));
  }

  boost::asio::io_context& io_;
  const Url base_;
  const Options options_;
  const std::optional<Url> proxy_;
  const Message::header_type head_;
  Secrets secrets_;
  Connector connector_;
  const std::shared_ptr<Watch> watch_ = std::make_shared<Watch>(io_);
  Pool pool_;
  std::minstd_rand random_{std::random_device()()};
};

Client::Client(boost::asio::io_context& io, Url base, Options options)
    : implementation_(std::make_unique<Implementation>(io, std::move(base), std::move(options))) {}
Client::~Client() = default;

Answer Client::ask(const Request& request, const Patience& patience, Yield yield) {
  return implementation_->ask(request, nullptr, patience, yield);
}

Answer Client::ask_until_served(const Request& request, const Patience& patience, Yield yield) {
  return implementation_->ask_until_served(request, patience, yield);
}

Answer Client::stream(const Request& request, const OnBody& on_body, const Patience& patience,
                      Yield yield) {
  return implementation_->ask(request, &on_body, patience, yield);
}

Upgraded Client::upgrade(const Request& request, const Patience& patience, Yield yield) {
  return implementation_->upgrade(request, patience, yield);
}

std::string Client::without_secrets(std::string text) const {
  return implementation_->without_secrets(std::move(text));
}

const Url& Client::base() const { return implementation_->base(); }

}  // namespace krl::http
