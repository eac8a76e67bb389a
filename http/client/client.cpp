#include "http/client/client.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <random>
#include <variant>

#include "http/base/secrets.hpp"
#include "http/client/backoff.hpp"
#include "http/client/connector.hpp"
#include "http/client/exchange.hpp"
#include "http/client/pool.hpp"
#include "http/client/request_head.hpp"
#include "http/client/slots.hpp"

namespace krl::http {
namespace {

constexpr std::array<std::string_view, 5> kRepeatable = {"GET", "HEAD", "PUT", "DELETE", "OPTIONS"};

bool is_repeatable(const Request& request) {
  return request.repeatable ||
         std::find(kRepeatable.begin(), kRepeatable.end(), request.method) != kRepeatable.end();
}

// True if the server has not processed the request, and may do so later.
bool was_not_served(unsigned status) {
  return status == 425 || status == 429 || status == 503 || status == 529;
}

bool may_be_served_later(unsigned status, bool repeatable) {
  const bool in_doubt = status == 408 || status == 500 || status == 502 || status == 504;
  return was_not_served(status) || (repeatable && in_doubt);
}

bool may_do_better(const Trouble& trouble, bool repeatable) {
  switch (trouble.cause) {
    case Cause::kAddress:
    case Cause::kConnect:
      return true;
    case Cause::kTimeout:
    case Cause::kBroken:
      return repeatable || trouble.phase < Phase::kSend;
    case Cause::kTls:
    case Cause::kDeadline:
    case Cause::kTooLarge:
    case Cause::kCancelled:
      break;
  }
  return false;
}

// The result of one try.
using Outcome = std::variant<Answer, Trouble>;

std::string text_of(const Outcome& outcome) {
  if (const auto* trouble = std::get_if<Trouble>(&outcome)) return trouble->what;
  return "it answered " + std::to_string(std::get<Answer>(outcome).status);
}

}  // namespace

class Client::Implementation {
 public:
  Implementation(boost::asio::io_context& io, Url base, Options options)
      : io_(io),
        base_(std::move(base)),
        options_(std::move(options)),
        proxy_(options_.proxies.proxy_for(base_)),
        heads_(base_, options_, proxy_),
        connector_(io, base_, options_, proxy_),
        watch_(io),
        slots_(io, options_.max_in_flight),
        pool_(options_.keep_idle) {
    for (const Header& header : options_.secret_headers) secrets_.add_value_of(header);
    secrets_.add_login_of(base_);
    if (proxy_) secrets_.add_login_of(*proxy_);
  }

  Answer ask(const Request& request, const OnBody* on_body, const Patience& patience, Yield yield) {
    return answer_or_throw(attempt(request, on_body, patience, yield), request);
  }

  Answer ask_until_served(const Request& request, const Patience& patience, Yield yield) {
    for (unsigned tries = 1;; ++tries) {
      Outcome outcome = attempt(request, nullptr, patience, yield);
      if (tries > options_.retries.most || !may_change(outcome, is_repeatable(request))) {
        return answer_or_throw(std::move(outcome), request);
      }
      const Duration wait = wait_after(outcome, tries);
      if (wait >= patience.deadline - Patience::Clock::now()) {
        return answer_or_throw(std::move(outcome), request);
      }
      if (options_.on_retry) tell(request, outcome, wait);
      pause_before_next(request, wait, patience, yield);
    }
  }

  Upgraded upgrade(const Request& request, const Patience& patience, Yield yield) {
    const std::string head = heads_.of(request, true);
    try {
      Limits limits(watch_, patience);
      const Slots::Slot slot = slots_.take(limits, yield);
      auto transport = connector_.connect(limits, yield);
      Exchange exchange(*transport, options_, limits, yield);
      exchange.send(head, request.body);
      const auto reader = exchange.read_head(true, nullptr);
      if (!reader) throw exchange.closed_early();
      const unsigned status = reader->answer.status;
      if (status == 101 || status == 200) {
        return {std::move(reader->answer),
                Stream(io_, std::move(transport), std::string(exchange.rest()), place_of(request))};
      }
      exchange.read_body(*reader);
      return {cleaned(std::move(reader->answer)), std::nullopt};
    } catch (const Trouble& trouble) {
      throw failure_of(trouble, request);
    }
  }

  std::string without_secrets(std::string text) const {
    return secrets_.removed_from(std::move(text));
  }
  const Url& base() const { return base_; }

 private:
  // One exchange, on a kept connection if there is one.
  Outcome attempt(const Request& request, const OnBody* on_body, const Patience& patience,
                  Yield yield) {
    const std::string head = heads_.of(request, false);
    try {
      Limits limits(watch_, patience);
      const Slots::Slot slot = slots_.take(limits, yield);
      if (auto kept = pool_.take()) {
        auto answer = exchange(std::move(kept), head, request, on_body, limits, yield);
        const bool was_closed = std::holds_alternative<Trouble>(answer);
        if (!was_closed || !is_repeatable(request)) return answer;
      }
      return exchange(connector_.connect(limits, yield), head, request, on_body, limits, yield);
    } catch (Trouble& trouble) {
      return std::move(trouble);
    }
  }

  // Trouble is returned if the connection was closed before a byte of an answer came, and any other
  // is thrown.
  Outcome exchange(std::unique_ptr<Transport> transport, const std::string& head,
                   const Request& request, const OnBody* on_body, Limits& limits, Yield yield) {
    Exchange exchange(*transport, options_, limits, yield);
    exchange.send(head, request.body);
    const auto reader = exchange.read_head(request.method != "HEAD", on_body);
    if (!reader) return exchange.closed_early();
    exchange.read_body(*reader);
    if (exchange.leaves_connection_usable(*reader)) pool_.keep(std::move(transport));
    return cleaned(std::move(reader->answer));
  }

  static bool may_change(const Outcome& outcome, bool repeatable) {
    if (const auto* trouble = std::get_if<Trouble>(&outcome)) {
      return may_do_better(*trouble, repeatable);
    }
    return may_be_served_later(std::get<Answer>(outcome).status, repeatable);
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
    char seconds[32];
    std::snprintf(seconds, sizeof seconds, "%.1f s", std::chrono::duration<double>(wait).count());
    options_.on_retry(without_secrets(place_of(request) + ": " + text_of(outcome) +
                                      "; tried again in " + seconds));
  }

  void pause_before_next(const Request& request, Duration wait, const Patience& patience,
                         Yield yield) {
    try {
      Limits limits(watch_, patience);
      Signal(io_, Patience::Clock::now() + wait).wait(limits, yield);
    } catch (const Trouble& trouble) {
      throw failure_of(trouble, request);
    }
  }

  Answer cleaned(Answer answer) const {
    if (!answer.good()) secrets_.remove_from(answer);
    return answer;
  }

  Answer answer_or_throw(Outcome outcome, const Request& request) const {
    if (const auto* trouble = std::get_if<Trouble>(&outcome)) throw failure_of(*trouble, request);
    return std::get<Answer>(std::move(outcome));
  }

  // "POST http://host/v1/completions"; a query may hold a key.
  std::string place_of(const Request& request) const {
    return request.method + ' ' + base_.text() + request.target.substr(0, request.target.find('?'));
  }

  Failure failure_of(const Trouble& trouble, const Request& request) const {
    return {trouble.cause, trouble.phase, without_secrets(place_of(request) + ": " + trouble.what),
            trouble.error};
  }

  boost::asio::io_context& io_;
  const Url base_;
  const Options options_;
  const std::optional<Url> proxy_;
  const RequestHead heads_;
  Secrets secrets_;
  Connector connector_;
  Watch watch_;
  Slots slots_;
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
