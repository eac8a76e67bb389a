// A Tinker-compatible service in miniature, which keeps account of what reached it and goes wrong
// as a test says: the protocol is real, the model is not. It knows seq_ids as
// the hosted service does: what is posted twice under one number happens once, and other bytes
// under the same number are an error. Its thread is the scripted server's; tests read after their
// calls.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/unit/http/scripted_server.hpp"

namespace krl::tinker::testing {

using http::testing::Script;

// What goes wrong with one exchange.
struct Fault {
  Script script;
  bool acts = false;  // the service does as it is asked before it answers so
};

class FakeService {
 public:
  FakeService();

  std::string url() const { return server_.url(); }
  http::testing::ScriptedServer& server() { return server_; }

  // The next exchange with the path ends in `script`. Several queue up.
  void fail(const std::string& path, Script script, bool acts = false);
  // What the root says; empty: nothing is there.
  void set_root(std::string body);
  // Replaces the result of the next request to `path`.
  void answer_next(const std::string& path, std::string body);

  // The bodies that were posted to `path`, in their order, those that failed among them.
  std::vector<std::string> posted(const std::string& path) const;
  // Paths in the order of the requests, heartbeats left out.
  std::vector<std::string> order() const;
  // How often something happened: "forward_backward", "optim_step", "create_model", …
  int happened(const std::string& what) const;
  // The numbers of a model's changes, as they happened.
  std::vector<std::int64_t> seq_ids() const;

  // What the model gives for any token, if nothing else was said.
  static constexpr float kLogprob = -1.5F;

 private:
  Script handle(const http::testing::SeenRequest& request);
  Script act(const http::testing::SeenRequest& request);
  Script promise(const std::string& path, const std::string& body);
  std::string result(const std::string& path, const nlohmann::json& request);

  mutable std::mutex mutex_;
  std::map<std::string, std::deque<Fault>> faults_;
  std::map<std::string, std::deque<std::string>> next_answers_;
  std::string root_;
  std::vector<std::pair<std::string, std::string>> posts_;  // path, body
  std::map<std::string, int> happened_;
  std::vector<std::int64_t> seq_ids_;
  std::map<std::pair<std::string, std::int64_t>, std::pair<std::string, std::string>> by_seq_id_;
  std::map<std::string, std::string> results_;  // by request_id
  http::testing::ScriptedServer server_;
};

}  // namespace krl::tinker::testing
