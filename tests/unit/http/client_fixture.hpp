// A client on a loop, for tests.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "http/base/loop.hpp"
#include "http/client/client.hpp"
#include "tests/unit/http/scripted_server.hpp"

namespace krl::http::testing {

inline constexpr std::chrono::seconds kTestPatience{60};
inline constexpr std::chrono::milliseconds kShort{60};  // a limit that is to be reached
inline Patience patient() { return Patience::of(kTestPatience); }

class ClientFixture : public ::testing::Test {
 protected:
  // A client that gives no proxy of the environment a say.
  static Options plain() {
    Options options;
    options.proxies = Proxies::none();
    return options;
  }
  static Request get(std::string target) { return {"GET", std::move(target), {}, {}, {}, false}; }
  static Request post(std::string target, std::string body) {
    Request request;
    request.target = std::move(target);
    request.body = std::move(body);
    return request;
  }

  void connect_to(const std::string& url, Options options = plain()) {
    client_.emplace(loop_.io(), parse_url(url), std::move(options));
  }
  Answer ask(const Request& request, const Patience& patience = patient()) {
    return loop_.run([&](Yield yield) { return client_->ask(request, patience, yield); });
  }
  Answer ask_until_served(const Request& request, const Patience& patience = patient()) {
    return loop_.run(
        [&](Yield yield) { return client_->ask_until_served(request, patience, yield); });
  }
  std::string streamed(const Request& request, const Patience& patience = patient()) {
    std::string body;
    loop_.run([&](Yield yield) {
      client_->stream(
          request, [&](std::string_view bytes) { body += bytes; }, patience, yield);
    });
    return body;
  }
  // What asking ends with.
  Failure failure(const Request& request, const Patience& patience = patient()) {
    try {
      const Answer answer = ask(request, patience);
      ADD_FAILURE() << "answered " << answer.status << ' ' << answer.body.substr(0, 100);
    } catch (const Failure& failure) {
      return failure;
    }
    return {Cause::kBroken, Phase::kSlot, "no failure"};
  }

  Loop loop_;
  std::optional<Client> client_;
};

}  // namespace krl::http::testing
