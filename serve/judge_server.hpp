// A judge on a port: the service with every protocol that it speaks. One at a time; created, drained
// and destroyed by the main thread.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "core/plan/plan.hpp"
#include "core/plugin/session.hpp"
#include "http/server/server.hpp"
#include "serve/dialects/mcp_tools.hpp"
#include "serve/judging/judge_service.hpp"
#include "serve/native/native_api.hpp"
#include "serve/routing/router.hpp"

namespace krl::serve {

struct JudgeServerOptions {
  http::ServerOptions server;
  AdmissionOptions admission;
  JudgeServiceOptions judge;
  std::string module_python;  // with it, clients may have modules imported; empty: they may not
};

class JudgeServer {
 public:
  // Serves from here on. `session` outlives the result.
  static Result<std::unique_ptr<JudgeServer>> open(const Plan& plan, core::Session& session,
                                                   const JudgeServerOptions& options);

  // "http://127.0.0.1:8400"
  std::string url() const;
  const std::string& device() const { return service_->info().device; }

  // Refuses further requests, and answers those under way for `patience` at most: false if some
  // were not answered.
  bool drain(std::chrono::seconds patience);

  ~JudgeServer();

 private:
  JudgeServer(std::unique_ptr<JudgeService> service, mcp::Tools::Import import,
              const JudgeServerOptions& options);
  Status listen();

  const JudgeServerOptions options_;
  ServerState state_;
  std::unique_ptr<http::Server> server_;  // stops first and goes last: others hold its calls
  Router router_;
  const std::unique_ptr<JudgeService> service_;  // goes before: what it judges may reach handlers
  mcp::Tools tools_;
};

}  // namespace krl::serve
