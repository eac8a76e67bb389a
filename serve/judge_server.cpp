#include "serve/judge_server.hpp"

#include "core/plugin/instance.hpp"
#include "serve/dialects/environment.hpp"
#include "serve/dialects/kernelgym.hpp"
#include "serve/dialects/mcp_http.hpp"
#include "serve/dialects/nemo_gym.hpp"
#include "serve/dialects/openenv.hpp"
#include "serve/dialects/ors.hpp"

namespace krl::serve {
namespace {

constexpr std::chrono::seconds kLastAnswers{5};  // in which clients take them

}  // namespace

Result<std::unique_ptr<JudgeServer>> JudgeServer::open(const Plan& plan, core::Session& session,
                                                       const JudgeServerOptions& options) {
  KRL_ASSIGN(auto service, JudgeService::open(plan, session, options.judge));
  mcp::Tools::Import import;
  if (!options.module_python.empty()) import = mcp::import_modules(session, options.module_python);
  std::unique_ptr<JudgeServer> server(
      new JudgeServer(std::move(service), std::move(import), options));
  KRL_TRY(server->listen());
  return server;
}

JudgeServer::JudgeServer(std::unique_ptr<JudgeService> service, mcp::Tools::Import import,
                         const JudgeServerOptions& options)
    : options_(options),
      router_(Admission(options.admission), service->metrics()),
      service_(std::move(service)),
      tools_(*service_, std::move(import)) {
  state_.connections = [this] { return server_->counts().connections; };
  state_.seeds = name_of(options.judge.queue.seeds.source);
  add_native_routes(*service_, state_, router_);
  add_environment_routes(*service_, state_, router_);
  openenv::add_routes(*service_, tools_, router_);
  nemo_gym::add_routes(*service_, router_);
  ors::add_routes(*service_, router_);
  kernelgym::add_routes(*service_, router_);
  mcp::add_routes(*service_, tools_, router_);
}

JudgeServer::~JudgeServer() {
  if (server_) server_->stop();
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
