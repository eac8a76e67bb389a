#include "plugins/isolation/component/call.hpp"

#include <sys/socket.h>

#include <kernelrl/broken_pipe_guard.hpp>
#include <utility>

#include "plugins/process/message_stream.hpp"

namespace krl::isolation {

HostCall::HostCall(int connection, std::int64_t deadline_ns)
    : connection_(connection), c_{sizeof(krl_call), 0,   this, deadline_ns, cancelled,
                                  progress,         log, fail, metric} {}

krl_status HostCall::send(const char* name, nlohmann::json value) {
  const BrokenPipeGuard guard;
  const std::lock_guard lock(mutex_);
  if (cancelled(&c_) != 0) return KRL_CANCELLED;
  const auto message = nlohmann::json::array({name, std::move(value)});
  try {
    return process::write_message(connection_, message) ? KRL_OK : KRL_CANCELLED;
  } catch (const Failure& failure) {
    lost_.emplace(failure);
    return failure.code();
  }
}

nlohmann::json HostCall::ask(const char* name) {
  if (send(name, nullptr) != KRL_OK) return nullptr;
  return process::read_message(connection_).value_or(nullptr);
}

krl_status HostCall::refuse(const char* what, const std::string& fault) {
  const std::lock_guard lock(mutex_);
  if (!lost_) lost_.emplace(KRL_INTERNAL, std::string("it pushed a ") + what + " " + fault);
  return KRL_INVALID_ARGUMENT;
}

void HostCall::require(krl_status status) {
  const std::lock_guard lock(mutex_);
  if (lost_) throw Failure(*lost_);
  if (status == KRL_OK) return;
  throw Failure(status, why_.empty() ? "failed without a reason" : why_);
}

std::int32_t HostCall::cancelled(const krl_call* c) {
  char byte = 0;
  return ::recv(of(c).connection_, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0 ? 1 : 0;
}

void HostCall::progress(const krl_call* c, double done, krl_str what) {
  of(c).send("progress", nlohmann::json::array({done, view(what)}));
}

void HostCall::log(const krl_call* c, std::int32_t level, krl_str message) {
  of(c).send("log", nlohmann::json::array({level, view(message)}));
}

krl_status HostCall::fail(const krl_call* c, krl_status status, krl_str why) {
  const std::lock_guard lock(of(c).mutex_);
  of(c).why_ = view(why);
  return status == KRL_OK ? KRL_INTERNAL : status;
}

void HostCall::metric(const krl_call* c, krl_str name, double value) {
  of(c).send("metric", nlohmann::json::array({view(name), value}));
}

}  // namespace krl::isolation
