// A server that speaks as vLLM does, with a small tokenizer, and errs where a test wants it to.
#pragma once

#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "plugins/policies/tokenizer/chat_tokenizer.hpp"
#include "tests/unit/http/scripted_server.hpp"
#include "tests/unit/policies/temporary_directory.hpp"
#include "tests/unit/policies/tokenizer/tokenizer_documents.hpp"

namespace krl::openai::testing {

using http::testing::Script;
using nlohmann::json;

// A directory with the tokenizer of a ChatML model.
class TokenizerDirectory {
 public:
  TokenizerDirectory();
  std::string path() const { return directory_.path().string(); }
  const policies::ChatTokenizer& chat() const { return *chat_; }

 private:
  krl::test::TemporaryDirectory directory_;
  std::optional<policies::ChatTokenizer> chat_;
};

// What a test does to the answer to POST /v1/completions number `number`, from 1: nothing (a good
// answer), or a script of its own.
using Interfere = std::function<std::optional<Script>(const json& body, int number)>;

class FakeVllm {
 public:
  explicit FakeVllm(Interfere interfere = {});

  std::string url() const { return server_.url() + "/v1"; }
  http::testing::ScriptedServer& server() { return server_; }

  // The bodies of POST /v1/completions so far.
  std::vector<json> completions() const;
  // The adapters that are loaded.
  std::vector<std::string> adapters() const;
  void forget_adapters();                  // as if it had been restarted
  std::vector<std::string> paths() const;  // of all requests: "GET /version", …

  // A good answer: choice i has the text "int i = SEED + i;" and an end token.
  static json answer(const json& body);
  static std::vector<std::string> events(const json& body);  // the same as a stream

 private:
  Script handle(const http::testing::SeenRequest& request);
  Script complete(const json& body);

  mutable std::mutex mutex_;
  Interfere interfere_;
  std::vector<json> completions_;
  std::vector<std::string> adapters_;
  http::testing::ScriptedServer server_;  // the last: its thread uses the others
};

const TokenizerDirectory& tokenizer_directory();

}  // namespace krl::openai::testing
