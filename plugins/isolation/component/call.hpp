// A call of the component in this process, as its krl_call: what the component reports is sent at
// once over the call's connection, whose end cancels the call.
#pragma once

#include <kernelrl/values.hpp>

#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace krl::isolation {

// Made by one thread; the component may use it from any of its own.
class HostCall {
 public:
  HostCall(int connection, std::int64_t deadline_ns);
  HostCall(const HostCall&) = delete;
  HostCall& operator=(const HostCall&) = delete;

  const krl_call* c() const { return &c_; }

  // Sends an event of the call. KRL_CANCELLED if nobody listens any more, KRL_RESOURCE_EXHAUSTED if
  // it is too large.
  krl_status send(const char* name, nlohmann::json value);
  // The same of one that is replied to; null if nobody does.
  nlohmann::json ask(const char* name);
  // Records that the component pushed a struct with a fault_in it.
  krl_status refuse(const char* what, const std::string& fault);
  // Throws the Failure that a status of the component's stands for, or that of an event that could
  // not be read or sent.
  void require(krl_status status);

 private:
  static HostCall& of(const krl_call* c) { return *static_cast<HostCall*>(c->ctx); }
  static std::int32_t cancelled(const krl_call* c);
  static void progress(const krl_call* c, double done, krl_str what);
  static void log(const krl_call* c, std::int32_t level, krl_str message);
  static krl_status fail(const krl_call* c, krl_status status, krl_str why);
  static void metric(const krl_call* c, krl_str name, double value);

  const int connection_;
  std::mutex mutex_;  // guards the writing to the connection, and the members below
  std::string why_;
  std::optional<Failure> lost_;  // tells why the first event that was not sent was lost
  krl_call c_;
};

}  // namespace krl::isolation
