// A component in Python, in a process of its own: the user's Python runs kernelrl.worker, which loads
// the user's file. A process that ends or hangs is replaced with the next call; what it printed goes
// to the log. Used by one thread at a time.
#pragma once

#include <cstdint>
#include <kernelrl/sdk.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "plugins/process/conversation.hpp"
#include "plugins/process/starting_thread.hpp"

namespace krl::python_components {

// The options that all of these components have. A component derives from it.
struct PythonFile {
  std::string file, object, executable;

  static constexpr auto config = krl::config(
      opt("file", &PythonFile::file, "the Python file of the component").path().required(),
      opt("object", &PythonFile::object,
          "the function or class in it; empty = the only one that can be meant"),
      opt("executable", &PythonFile::executable,
          "the Python that runs it, 3.10 or newer: a program or its path; empty = [python] "
          "executable, the environment variable KERNELRL_PYTHON, or python3"),
      free_opt("options", KRL_TABLE, "arguments of the class's constructor, or of the function"));
};

class Worker {
 public:
  // `kind`: "reward", …. Starts the process and, in it, the component. Throws
  // Failure(KRL_INVALID_ARGUMENT) if the file is wrong, KRL_FAILED_PRECONDITION if there is no
  // Python.
  Worker(const std::string& kind, const PythonFile& python, const Config& config,
         const Context& context);

  // Returns what the component said of itself last.
  const nlohmann::json& description() const { return description_; }

  // Calls `call` of the component; the other members of `request` are its arguments. An exception
  // of the component's is a Failure with its traceback; KRL_UNAVAILABLE if the process ended.
  nlohmann::json call(nlohmann::json request, const Context& context);

  // True if the process ended since the last start: what it held in memory is lost.
  bool ended() const { return !conversation_; }
  // Starts a process if there is none, and returns how many have been started.
  std::uint64_t ensure_started(const Context& context);

 private:
  void start(const Context& context);
  bool waits_for_answer(const Context& context);
  nlohmann::json exchange(const nlohmann::json& request, const Context& context);
  [[noreturn]] void report_end(const std::string& during);
  void log(const Context& context);

  std::string file_, executable_;
  std::string digest_;  // The file may not change while the component lives.
  nlohmann::json start_request_, description_;
  std::uint64_t starts_ = 0;
  process::StartingThread starter_;  // the process dies with it, and so with kernelrl
  std::optional<process::Conversation> conversation_;
};

}  // namespace krl::python_components
