#include "plugins/backends/docker/container.hpp"

#include "plugins/backends/docker/owner.hpp"

namespace krl::docker {
namespace {

constexpr std::chrono::seconds kAnswerLimit{30};

std::string require_image(const Engine& engine, const std::string& name) {
  if (auto id = engine.image_id(name, Patience::of(kAnswerLimit))) return *std::move(id);
  throw EngineFailure(KRL_FAILED_PRECONDITION, "Docker has no image " + name +
                                                   ": build it with scripts/docker_image.sh, or "
                                                   "name another with 'image'");
}

}  // namespace

void remove_leftovers(const Engine& engine) {
  const Patience patience = Patience::of(kAnswerLimit);
  for (const ContainerSummary& container : engine.containers_with_label(kOwnerLabel, patience)) {
    if (!owner_is_gone(container.labels.at(kOwnerLabel))) continue;
    try {
      engine.remove(container.id, patience);
    } catch (const EngineFailure& failure) {
      if (failure.http_status() == 0) throw;  // else Docker cannot now; perhaps the next time
    }
  }
}

Container::Container(ContainerSettings settings)
    : settings_(std::move(settings)),
      engine_(settings_.socket, Patience::of(kAnswerLimit)),
      image_id_(require_image(engine_, settings_.image)) {
  remove_leftovers(engine_);
  current();
}

CommandResult Container::run(const ContainerCommand& command,
                             const std::function<bool()>& cancelled) {
  try {
    return current()->run(command, cancelled);
  } catch (const EngineFailure& failure) {
    if (!failure.gone()) throw;
  }
  return current()->run(command, cancelled);
}

std::shared_ptr<RunningContainer> Container::current() {
  const std::lock_guard lock(mutex_);
  if (!running_ || running_->lost()) {
    running_ = std::make_shared<RunningContainer>(engine_, settings_, image_id_);
  }
  return running_;
}

}  // namespace krl::docker
