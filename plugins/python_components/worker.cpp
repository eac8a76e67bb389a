#include "plugins/python_components/worker.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "plugins/files/digest.hpp"
#include "plugins/files/file.hpp"
#include "plugins/process/installed_files.hpp"

namespace krl::python_components {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr milliseconds kPoll{20};         // between looks at whether a call is cancelled
constexpr milliseconds kMessage{60'000};  // for the rest of an answer that has begun
constexpr milliseconds kEnd{2'000};       // for a process that has closed its streams to end
constexpr int kNoProgram = 127;           // the exit code of `env` where there is no such program

const char kHere = 0;  // an address within this plugin

std::string executable_of(const PythonFile& python) {
  if (!python.executable.empty()) return python.executable;
  const char* named = std::getenv("KERNELRL_PYTHON");
  return named != nullptr && *named != '\0' ? named : "python3";
}

process::Command command_of(const std::string& executable) {
  const process::InstalledFiles files(&kHere, "components in Python");
  const std::string code =
      "import sys; sys.path[0] = " + nlohmann::json(files.shared_folder("python")).dump() +
      "; from kernelrl.worker import main; main()";
  process::Command command{{"/usr/bin/env", executable, "-c", code}, {}, {}};
  for (char** variable = environ; *variable != nullptr; ++variable)
    command.environment.emplace_back(*variable);
  return command;
}

nlohmann::json options_of(const Config& config) {
  const auto table = nlohmann::json::parse(config.json());
  return table.value("options", nlohmann::json::object());
}

}  // namespace

Worker::Worker(const std::string& kind, const PythonFile& python, const Config& config,
               const Context& context)
    : file_(python.file), executable_(executable_of(python)) {
  if (!fs::is_regular_file(file_)) invalid_argument("file: there is no file " + file_);
  start_request_ = {{"call", "start"},
                    {"kind", kind},
                    {"file", fs::canonical(file_).string()},
                    {"object", python.object},
                    {"options", options_of(config)}};
  digest_ = files::sha256_hex(files::read_file_or_empty(file_));
  start(context);
}

nlohmann::json Worker::call(nlohmann::json request, const Context& context) {
  ensure_started(context);
  return exchange(request, context);
}

std::uint64_t Worker::ensure_started(const Context& context) {
  if (!conversation_) start(context);
  return starts_;
}

void Worker::start(const Context& context) {
  if (files::sha256_hex(files::read_file_or_empty(file_)) != digest_)
    throw Failure(KRL_FAILED_PRECONDITION,
                  file_ + " has changed since it was loaded: start kernelrl again");
  starter_.run([&] { conversation_.emplace(command_of(executable_), process::Encoding::kJson); });
  ++starts_;
  try {
    description_ = exchange(start_request_, context);
  } catch (const Failure&) {
    conversation_.reset();
    throw;
  }
}

// False once the process has ended without an answer; its children may still hold the pipe.
bool Worker::waits_for_answer(const Context& context) {
  while (!conversation_->has_answer(kPoll)) {
    if (!conversation_->process().running()) return conversation_->has_answer(milliseconds(0));
    context.throw_if_cancelled();
  }
  return true;
}

nlohmann::json Worker::exchange(const nlohmann::json& request, const Context& context) {
  std::optional<nlohmann::json> answer;
  try {
    if (conversation_->send(request) && waits_for_answer(context))
      answer = conversation_->receive(kMessage);
  } catch (const Failure&) {  // the call is cancelled
    log(context);
    conversation_.reset();
    throw;
  }
  if (!answer) report_end(request["call"].get<std::string>());
  log(context);
  if (const auto error = answer->find("error"); error != answer->end())
    throw Failure((*error)["code"].get<krl_status>(), (*error)["message"].get<std::string>());
  if (const auto description = answer->find("description"); description != answer->end())
    description_ = *description;
  return std::move((*answer)["value"]);
}

void Worker::report_end(const std::string& during) {
  const process::Ending ending = conversation_->end(kEnd);
  const std::string complaint = conversation_->complaint();
  conversation_.reset();
  if (ending.exit_code == kNoProgram) {
    throw Failure(KRL_FAILED_PRECONDITION,
                  "'" + executable_ + "' cannot be started (" + complaint +
                      "): set [python] executable to a Python 3.10 or newer");
  }
  throw Failure(during == "start" ? KRL_FAILED_PRECONDITION : KRL_UNAVAILABLE,
                "the Python process of " + file_ + " " + ending.description() + " during " +
                    during + "()" + (complaint.empty() ? "" : ": " + complaint));
}

void Worker::log(const Context& context) {
  const std::string printed = conversation_->take_complaints();
  for (std::size_t begin = 0; begin < printed.size();) {
    const std::size_t end = std::min(printed.find('\n', begin), printed.size());
    if (end > begin)
      context.info(fs::path(file_).filename().string() + ": " + printed.substr(begin, end - begin));
    begin = end + 1;
  }
}

}  // namespace krl::python_components
