// A `kernelrl serve` for tests, whose verdicts are scripted, and the backend `remote` as a host meets
// it: the plugin's file, called through the C boundary.
#pragma once

#include <atomic>
#include <kernelrl/testing.hpp>
#include <kernelrl/testing/evaluation_receiver.hpp>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>

#include "tests/unit/http/scripted_server.hpp"

namespace krl::remote::testing {

using http::testing::Script;
using http::testing::SeenRequest;
using Json = nlohmann::json;

class FakeJudge {
 public:
  // The script of an evaluation in place of its verdict, if it returns one.
  using Interfere = std::function<std::optional<Script>(const SeenRequest&)>;

  explicit FakeJudge(Interfere interfere = {}, Json info = {});

  std::string url() const { return server_.url(); }
  http::testing::ScriptedServer& server() { return server_; }
  // The sources that were judged here, in order.
  std::vector<std::string> judged() const;
  // The bodies of all requests to judge.
  std::vector<Json> asked() const;
  void forget_tasks();

  static Script verdict(const Json& request);

 private:
  Script handle(const SeenRequest& request);

  const Interfere interfere_;
  const Json info_;
  mutable std::mutex mutex_;  // guards the members below
  std::vector<std::string> judged_;
  std::vector<Json> asked_;
  std::set<std::string> tasks_;
  http::testing::ScriptedServer server_;  // goes first
};

// The answer to GET /v1/info of servers that judge alike.
Json usual_info();

// The result of one call.
struct Ending {
  krl_status status = KRL_OK;
  std::string why;
  Evaluation evaluation;
  int verdicts = 0;
};

// The options of a backend with these servers.
krl::testing::Table at(const std::vector<std::string>& servers, krl::testing::Table more = {});

class Remote {
 public:
  // Throws Failure if the backend refuses its options.
  explicit Remote(krl::testing::Table options)
      : instance_(plugin().create<krl_backend_v>(KRL_BACKEND, "remote", std::move(options))) {}

  krl::testing::BackendDescription describe();
  Ending prepare();
  Ending evaluate(const std::string& source) {
    const krl::testing::Call call;
    return evaluate(source, call.context());
  }
  Ending evaluate(const std::string& source, const krl_call* context);

 private:
  static const krl::testing::Plugin& plugin();

  krl::testing::Instance<krl_backend_v> instance_;
};

}  // namespace krl::remote::testing
