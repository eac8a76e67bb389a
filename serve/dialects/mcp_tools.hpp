// The tools of MCP: what an agent may ask of a judge. Thread-safe.
//
// A fault of a kernel is an answer like any other. What the agent called wrongly, and what the
// infrastructure failed at, is an error; the latter says so and holds no figure.
#pragma once

#include <atomic>
#include <boost/asio/thread_pool.hpp>
#include <functional>
#include <string>

#include "core/plugin/session.hpp"
#include "serve/dialects/mcp_verdict.hpp"
#include "serve/judging/judge_service.hpp"
#include "service/kernels/module_task.hpp"

namespace krl::serve::mcp {

struct ToolAnswer {
  Json structured;
  std::string text;
  bool is_error = false;
};

struct ToolCall {
  std::string client;
  Json arguments;
  // Told how far it is, each time further; may be empty.
  std::function<void(std::size_t done, std::size_t of, const std::string& message)> progress;
  std::function<void(ToolAnswer)> done;  // called once, on any thread
};

class Tools {
 public:
  // Makes a task of a module. Blocks, and runs the module's code.
  using Import = std::function<Result<Task>(const service::ModuleText& module)>;

  // Without `import` there is no new_task. `service` outlives the tools.
  explicit Tools(JudgeService& service, Import import = {});
  // Ends once no module is being imported. REQUIRES: no call() is under way.
  ~Tools();

  // "tools" of tools/list.
  const Json& list() const { return list_; }
  bool has(const std::string& name) const;
  // How to use them, for an agent.
  static const char* instructions();

  // Calls a tool, which may be done before this returns. Calling the result ends it early.
  // REQUIRES: has(name).
  std::function<void()> call(const std::string& name, ToolCall call);

 private:
  Result<ToolAnswer> list_tasks(const ToolCall& call);
  Result<ToolAnswer> show_task(const ToolCall& call);
  Result<ToolAnswer> best(const ToolCall& call);
  std::function<void()> judge_one(ToolCall call, Depth depth);
  std::function<void()> compare(ToolCall call);
  std::function<void()> import_module(ToolCall call);
  void try_new_task(const TaskPointer& made, const ToolCall& call);

  JudgeService& service_;
  const Import import_;
  const Json list_;
  std::atomic<int> importing_ = 0;
  boost::asio::thread_pool imports_{1};
};

// Imports with `python`, a Python that has torch, in two minutes at most. `session` outlives the
// result.
Tools::Import import_modules(core::Session& session, std::string python);

}  // namespace krl::serve::mcp
