// The Model Context Protocol, whatever carries its messages: its revisions up to 2025-11-25, which
// begin with a handshake, and 2026-07-28, whose requests stand alone.
// https://modelcontextprotocol.io/specification
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "serve/dialects/mcp_tools.hpp"

namespace krl::serve::mcp {

// The codes of JSON-RPC and MCP that are used here.
enum ErrorCode : int {
  kParseError = -32700,
  kInvalidRequest = -32600,
  kMethodNotFound = -32601,
  kInvalidParams = -32602,
  kHeaderMismatch = -32020,
  kUnsupportedVersion = -32022,
};

Json error_message(const Json& id, int code, std::string message, Json data = {});

// True if a handshake may agree on this revision.
bool is_handshake_version(std::string_view version);

// True if a message is a request: it has a method, and an id to be answered under.
bool is_request(const Json& message);

// The revision that a request which stands alone names: a string, if it is right; null if it names
// none.
Json stateless_version_of(const Json& message);

// What one client asks for, until it is answered. Thread-safe; created by make_shared.
class Conversation : public std::enable_shared_from_this<Conversation> {
 public:
  // Gets notifications about a request and then its response, one at a time, on any thread.
  using Send = std::function<void(const Json& message)>;

  // `tools` outlive the conversation and what is under way in it. `client` is whom the queue knows.
  Conversation(Tools& tools, std::string client) : tools_(tools), client_(std::move(client)) {}

  // Takes a message of the client's. Returns false if it needs no response; else `send` gets one,
  // perhaps before this returns, unless the request is cancelled. A request stands alone if it says
  // so, or if `is_stateless`.
  bool take(const Json& message, Send send, bool is_stateless = false);

  // Ends requests without a response.
  void cancel(const Json& id);
  void cancel_all();

  // True once nothing is under way; waits for that for `patience`.
  bool wait_until_idle(std::chrono::milliseconds patience);

 private:
  struct Request;
  using RequestPointer = std::shared_ptr<Request>;

  void answer(const RequestPointer& request, const std::string& method, const Json& params);
  void call_tool(const RequestPointer& request, const Json& params);
  void respond(const RequestPointer& request, Json result);
  void finish(const RequestPointer& request, const Json& response);

  Tools& tools_;
  const std::string client_;
  std::mutex mutex_;  // guards `under_way_`
  std::condition_variable is_idle_;
  std::map<std::string, RequestPointer> under_way_;  // by id, as JSON
};

}  // namespace krl::serve::mcp
