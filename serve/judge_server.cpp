#include "serve/judge_server.hpp"

#include "core/plugin/instance.hpp"

namespace krl::serve {
namespace {

constexpr std::chrono::seconds kLastAnswers{5};  // in which clients take them

}  // namespace

Result<std::unique_ptr<JudgeServer>> JudgeServer::open(const Plan& plan, core::Session& session,
                                                       const JudgeServerOptions& options) {
  KRL_ASSIGN(auto service, JudgeService::open(plan, session, options.judge));
  std::unique_ptr<JudgeServer> server(new JudgeServer(std::move(service), options));
  KRL_TRY(server->listen());
  return server;
}

JudgeServer::JudgeServer(std::unique_ptr<JudgeService> service, const JudgeServerOptions& options)
    : options_(options),
      service_(std::move(service)),
      router_(Admission(options.admission), service_->metrics()) {
  state_.connections = [this] { return server_->counts().connections; };
  add_native_routes(*service_, state_, router_);
}

Status JudgeServer::listen() {
  try {
    server_ = std::make_unique<http::Server>(
        options_.server, [this](CallPointer call) { router_.handle(std::move(call)); });
    return {};
  } catch (const krl::Failure& error) {
    return failure(code_of(error.code()), error.what());
  }
}

std::string JudgeServer::url() const {
  const std::string& address = options_.server.address;
  const bool is_v6 = address.find(':') != std::string::npos;
  return (options_.server.certificate_file.empty() ? "http://" : "https://") +
         (is_v6 ? "[" + address + "]" : address) + ":" + std::to_string(server_->port());
}

bool JudgeServer::drain(std::chrono::seconds patience) {
  state_.drains = true;
  const bool judged = service_->queue().drain(patience);
  return server_->drain(kLastAnswers) && judged;
}

}  // namespace krl::serve
