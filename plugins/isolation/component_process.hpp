// A process of kernelrl-component with one instance of a component, and calls of it. Each call has
// a connection of its own, so that as many may overlap as the component allows. A process that has
// ended is replaced by a new one at the next call. Thread-safe.
//
// A call is a message [name, arguments, deadline]; any number of events [name, value] answer it, and
// one [status, why, value] ends it.
#pragma once

#include <cstdint>
#include <functional>
#include <kernelrl/sdk.hpp>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "plugins/files/descriptor.hpp"
#include "plugins/process/starting_thread.hpp"
#include "plugins/process/subprocess.hpp"

namespace krl::isolation {

struct Subject {
  std::uint32_t kind = 0;  // KRL_POLICY, …
  std::string file, component;
  nlohmann::json options;  // the component's table, complete
};

class ComponentProcess {
 public:
  // The handlers of what the component pushes during a call, by name. Each gets the value, and
  // returns the reply to an event that waits for one, or null.
  using Events = std::map<std::string, std::function<nlohmann::json(const nlohmann::json& value)>>;

  // Starts the process and creates the instance. Throws the component's Failure, and KRL_UNAVAILABLE
  // if the process ends meanwhile.
  ComponentProcess(Subject subject, const Context& context);
  // Destroys the instance and ends the process.
  ~ComponentProcess();
  ComponentProcess(const ComponentProcess&) = delete;
  ComponentProcess& operator=(const ComponentProcess&) = delete;

  // Returns the value of the call. Metrics, progress and what is logged go to the context, which is
  // null for calls that have none. Throws the component's Failure; KRL_UNAVAILABLE if the process
  // ended, or KRL_FAILED_PRECONDITION from then on if it had learned; the context's if it is
  // cancelled, and then kills a process that does not end the call.
  nlohmann::json call(const std::string& name, const nlohmann::json& arguments,
                      const Context* context, const Events& events = {});

 private:
  struct Running;
  struct Ended {};  // thrown where the process is gone

  std::shared_ptr<Running> running(const Context* context);
  static void settle(Running& process, int connection);
  std::shared_ptr<Running> start(const Context* context);
  nlohmann::json exchange(Running& process, const std::string& name,
                          const nlohmann::json& arguments, const Context* context,
                          const Events& events);
  [[noreturn]] void report_end(const std::shared_ptr<Running>& process, const std::string& during);

  const Subject subject_;
  process::StartingThread starter_;  // the process dies with it, and so with kernelrl
  std::mutex mutex_;                 // guards the members below
  std::shared_ptr<Running> running_;
  std::string ending_;  // says how the last process ended
  bool irreplaceable_ = false;
};

}  // namespace krl::isolation
