#include "serve/dialects/mcp_protocol.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

namespace krl::serve::mcp {
namespace {

// The latest first: what a client is offered that asks for none of them.
constexpr std::array<std::string_view, 4> kHandshakeVersions = {"2025-11-25", "2025-06-18",
                                                                "2025-03-26", "2024-11-05"};
constexpr const char* kStatelessVersion = "2026-07-28";
constexpr const char* kVersionKey = "io.modelcontextprotocol/protocolVersion";
constexpr const char* kCapabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
constexpr const char* kServerKey = "io.modelcontextprotocol/serverInfo";
constexpr int kCacheMs = 300000;  // in which the list of tools does not change

Json server_info() {
  return {{"name", "kernelrl"},
          {"title", "kernelrl, a judge of CUDA kernels"},
          {"version", KERNELRL_VERSION}};
}

Json capabilities() { return {{"tools", {{"listChanged", false}}}}; }

Json member(const Json& object, const char* name) {
  return object.is_object() ? object.value(name, Json()) : Json();
}

Json initialized(const Json& params) {
  const Json asked = member(params, "protocolVersion");
  const bool is_known = asked.is_string() && is_handshake_version(asked.get<std::string>());
  return {{"protocolVersion", is_known ? asked : Json(kHandshakeVersions.front())},
          {"capabilities", capabilities()},
          {"serverInfo", server_info()},
          {"instructions", Tools::instructions()}};
}

Json discovered() {
  return {{"supportedVersions", Json::array({kStatelessVersion})},
          {"capabilities", capabilities()},
          {"instructions", Tools::instructions()}};
}

// Why a request cannot stand alone; null if it can.
Json fault_of_stateless(const Json& id, const Json& message) {
  const Json meta = member(member(message, "params"), "_meta");
  const Json version = member(meta, kVersionKey);
  if (!version.is_string() || !meta.contains(kCapabilitiesKey)) {
    return error_message(
        id, kInvalidParams,
        std::string("params._meta needs ") + kVersionKey + ", a string, and " + kCapabilitiesKey);
  }
  if (version == kStatelessVersion) return {};
  return error_message(id, kUnsupportedVersion, "Unsupported protocol version",
                       {{"supported", Json::array({kStatelessVersion})}, {"requested", version}});
}

}  // namespace

Json error_message(const Json& id, int code, std::string message, Json data) {
  Json error = {{"code", code}, {"message", std::move(message)}};
  if (!data.is_null()) error["data"] = std::move(data);
  return {{"jsonrpc", "2.0"}, {"id", id}, {"error", std::move(error)}};
}

bool is_handshake_version(std::string_view version) {
  return std::ranges::find(kHandshakeVersions, version) != kHandshakeVersions.end();
}

bool is_request(const Json& message) {
  return message.is_object() && message.contains("method") && message.contains("id");
}

Json stateless_version_of(const Json& message) {
  if (member(message, "method") == "initialize") return {};
  return member(member(member(message, "params"), "_meta"), kVersionKey);
}

struct Conversation::Request {
  Request(Json given_id, Send given_send, bool stands_alone)
      : id(std::move(given_id)), send(std::move(given_send)), is_stateless(stands_alone) {}

  const Json id;
  const Send send;
  const bool is_stateless;
  std::mutex mutex;  // guards the members below, and keeps what is sent in order
  bool is_over = false;
  std::function<void()> cancel;
};

bool Conversation::take(const Json& message, Send send, bool is_stateless) {
  const Json method = member(message, "method"), id = member(message, "id");
  const bool is_response = member(message, "jsonrpc") == "2.0" && !message.contains("method");
  if (is_response) return false;  // to a request that this server never makes
  if (member(message, "jsonrpc") != "2.0" || !method.is_string()) {
    send(error_message(nullptr, kInvalidRequest,
                       "a message is one JSON-RPC 2.0 request or notification"));
    return true;
  }
  const Json params = member(message, "params");
  if (!message.contains("id")) {
    if (method == "notifications/cancelled") cancel(member(params, "requestId"));
    return false;
  }
  if (!id.is_string() && !id.is_number_integer()) {
    send(error_message(nullptr, kInvalidRequest, "an id is a string or a whole number"));
    return true;
  }
  is_stateless = is_stateless || !stateless_version_of(message).is_null();
  if (const Json fault = fault_of_stateless(id, message); is_stateless && !fault.is_null()) {
    send(fault);
    return true;
  }
  const auto request = std::make_shared<Request>(id, std::move(send), is_stateless);
  {
    const std::lock_guard lock(mutex_);
    under_way_[id.dump()] = request;
  }
  answer(request, method.get<std::string>(), params);
  return true;
}

void Conversation::answer(const RequestPointer& request, const std::string& method,
                          const Json& params) {
  const bool is_stateless = request->is_stateless;
  if (method == "tools/call") return call_tool(request, params);
  if (method == "tools/list") return respond(request, {{"tools", tools_.list()}});
  if (is_stateless && method == "server/discover") return respond(request, discovered());
  if (!is_stateless && method == "initialize") return respond(request, initialized(params));
  if (!is_stateless && method == "ping") return respond(request, Json::object());
  finish(request, error_message(request->id, kMethodNotFound, "there is no method " + method));
}

void Conversation::call_tool(const RequestPointer& request, const Json& params) {
  const Json name = member(params, "name");
  const Json given = member(params, "arguments"),
             arguments = given.is_null() ? Json::object() : given;
  if (!name.is_string() || !tools_.has(name.get<std::string>()) || !arguments.is_object()) {
    return finish(request, error_message(request->id, kInvalidParams,
                                         arguments.is_object() ? "Unknown tool: " + name.dump()
                                                               : "arguments must be an object"));
  }
  ToolCall call{
      client_, arguments, {}, [self = shared_from_this(), request](const ToolAnswer& answer) {
        const Json text = {{"type", "text"}, {"text", answer.text}};
        self->respond(request, {{"content", Json::array({text})},
                                {"structuredContent", answer.structured},
                                {"isError", answer.is_error}});
      }};
  const Json token = member(member(params, "_meta"), "progressToken");
  if (token.is_string() || token.is_number_integer()) {
    call.progress = [request, token](std::size_t done, std::size_t of, const std::string& message) {
      const std::lock_guard lock(request->mutex);
      if (request->is_over) return;
      request->send(
          {{"jsonrpc", "2.0"},
           {"method", "notifications/progress"},
           {"params",
            {{"progressToken", token}, {"progress", done}, {"total", of}, {"message", message}}}});
    };
  }
  auto cancel = tools_.call(name.get<std::string>(), std::move(call));
  std::unique_lock lock(request->mutex);
  if (!request->is_over) {
    request->cancel = std::move(cancel);
    return;
  }
  lock.unlock();
  if (cancel) cancel();
}

void Conversation::respond(const RequestPointer& request, Json result) {
  if (request->is_stateless) {
    result["resultType"] = "complete";
    result["_meta"] = {{kServerKey, server_info()}};
    if (!result.contains("content")) {  // what clients may keep
      result["ttlMs"] = kCacheMs;
      result["cacheScope"] = "public";
    }
  }
  finish(request, {{"jsonrpc", "2.0"}, {"id", request->id}, {"result", std::move(result)}});
}

void Conversation::finish(const RequestPointer& request, const Json& response) {
  {
    const std::lock_guard lock(request->mutex);
    if (std::exchange(request->is_over, true)) return;
    request->cancel = {};
    request->send(response);
  }
  const std::lock_guard lock(mutex_);
  const auto found = under_way_.find(request->id.dump());
  if (found != under_way_.end() && found->second == request) under_way_.erase(found);
  if (under_way_.empty()) is_idle_.notify_all();
}

void Conversation::cancel(const Json& id) {
  RequestPointer request;
  {
    const std::lock_guard lock(mutex_);
    const auto found = under_way_.find(id.dump());
    if (found == under_way_.end()) return;
    request = std::move(found->second);
    under_way_.erase(found);
    if (under_way_.empty()) is_idle_.notify_all();
  }
  std::function<void()> cancel;
  {
    const std::lock_guard lock(request->mutex);
    request->is_over = true;
    cancel = std::move(request->cancel);
  }
  if (cancel) cancel();
}

void Conversation::cancel_all() {
  std::vector<Json> ids;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [key, request] : under_way_) ids.push_back(request->id);
  }
  for (const Json& id : ids) cancel(id);
}

bool Conversation::wait_until_idle(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  return is_idle_.wait_for(lock, patience, [this] { return under_way_.empty(); });
}

}  // namespace krl::serve::mcp
