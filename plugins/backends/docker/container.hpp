// The worker container of the docker backend: locked down, long-lived, replaced when it dies.
// Leftovers of killed processes are removed when a Container is created. Thread-safe.
#pragma once

#include <memory>
#include <mutex>

#include "plugins/backends/docker/running_container.hpp"

namespace krl::docker {

class Container {
 public:
  // Starts the container. Throws Failure: KRL_FAILED_PRECONDITION if there is no image or no
  // permission, KRL_UNAVAILABLE if Docker is not there or refuses.
  explicit Container(ContainerSettings settings);

  // See RunningContainer::run. A container that is found dead before the command starts is
  // replaced; one that dies under the command is a Failure(KRL_UNAVAILABLE), and the next command
  // gets a new one.
  CommandResult run(const ContainerCommand& command, const std::function<bool()>& cancelled = {});

  // Identifies the content of the image, which determines the results in addition to the commands.
  const std::string& image_id() const { return image_id_; }
  const Engine& engine() const { return engine_; }
  // Returns the name of the present container.
  std::string name() { return current()->name(); }

 private:
  std::shared_ptr<RunningContainer> current();

  const ContainerSettings settings_;
  const Engine engine_;
  std::string image_id_;
  std::mutex mutex_;
  std::shared_ptr<RunningContainer> running_;
};

// Removes the containers whose owners are gone, as far as Docker can. Throws EngineFailure if it is
// not there.
void remove_leftovers(const Engine& engine);

}  // namespace krl::docker
