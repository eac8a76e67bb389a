// Requests to a `kernelrl serve` and its answers, as JSON: docs/serve.md. Pure.
#pragma once

#include <cstdint>
#include <kernelrl/backend.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "http/base/message.hpp"

namespace krl::remote {

// A server's description of itself.
struct ServerInfo {
  std::string version, identity, device, toolchain;
  std::string seeds;  // "random": its inputs are others than those of another server
  std::uint32_t concurrency = 1, signals = 0;
  bool real_sizes = false;

  // The identity on one line: backend, toolchain, device, sanitizer and changed options.
  std::string judges_by() const;
};

// Throws krl::Failure if the text is no such answer.
ServerInfo info_of(const std::string& body);

// A list of URLs, or {"members": [ … ]}. Throws krl::Failure.
std::vector<std::string> members_of(const std::string& body);

// One evaluation that is asked for. Its parts are JSON, so that it can be written again for another
// server, with the time that is left.
class Wanted {
 public:
  Wanted(const Task& task, std::string_view source, bool host_contract,
         const EvaluateOptions& options);

  const std::string& definition() const { return definition_; }
  // A number for what is asked for, the same everywhere.
  std::uint64_t content() const { return content_; }
  // The body of POST /v1/evaluate. `task`: JSON, a definition or a digest; `deadline_s`: 0: none.
  std::string body(const std::string& task, std::int64_t deadline_s) const;

 private:
  std::string definition_, rest_;
  std::uint64_t content_;
};

struct Judged {
  Evaluation evaluation;
  std::string digest;  // by which the server knows the task from here on; may be empty
  bool kept = false;   // it was judged before
};

// Throws krl::Failure(KRL_UNAVAILABLE) if the text is no evaluation.
Judged judged_of(const std::string& body);

// The error of an answer: its code, and the server's words.
struct Refusal {
  krl_status code = KRL_UNAVAILABLE;
  std::string words;
};
Refusal refusal_of(const http::Answer& answer);

}  // namespace krl::remote
