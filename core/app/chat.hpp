// A conversation with a policy on a terminal, or over pipes. Main thread only.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "core/app/policy_call.hpp"
#include "core/learn/setup.hpp"
#include "core/plugin/policy.hpp"

namespace krl {

class Chat {
 public:
  // All of it outlives the chat. While a line is obeyed, signals are
  // StopSignals': `call` and `components` are of a scope that those stop.
  Chat(const PolicyCall& call, const Policy& policy, Components& components, Sampling sampling);

  // Answers the lines of `in` until its end or /quit. An error ends an answer, not the chat.
  void run(std::istream& in);

 private:
  struct Command;
  static const std::vector<Command>& commands();

  void obey(const std::string& line);
  void answer(const std::string& message);
  void reset(const std::string& argument);
  void set_system(const std::string& argument);
  void show_task(const std::string& argument);
  void help(const std::string& argument);

  void play(const Task& task);
  Result<Answer> sample(const Prompt& prompt);
  Result<const Task*> find_task(const std::string& id);

  const PolicyCall& call_;
  const Policy& policy_;
  Components& components_;
  const Sampling sampling_;
  std::string system_;
  Prompt conversation_;              // without the system message
  std::optional<StageSetup> setup_;  // made for the first task
  int asked_ = 0;                    // part of every seed
  bool over_ = false;
};

}  // namespace krl
