// Tests in containers of a small image, by a daemon of their own.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "plugins/backends/docker/container.hpp"
#include "tests/unit/backends/docker/private_daemon.hpp"
#include "tests/unit/backends/docker/small_image.hpp"

namespace krl::docker::testing {

inline constexpr std::chrono::seconds kTestPatience{60};

class DockerFixture : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string obstacle = PrivateDaemon::obstacle();
    if (!obstacle.empty()) GTEST_SKIP() << obstacle;
    daemon_.emplace();
    engine_.emplace(daemon_->socket(), Patience::of(kTestPatience));
    import_small_image(*engine_);
  }

  ContainerSettings settings() const {
    ContainerSettings settings;
    settings.socket = daemon_->socket();
    settings.image = kSmallImage;
    settings.memory_bytes = 256 << 20;
    settings.folder_bytes = 64 << 20;
    settings.processes = 32;
    return settings;
  }

  static ContainerCommand shell(const std::string& script, const std::string& input = {}) {
    ContainerCommand command;
    command.arguments = {"/bin/sh", "-c", script};
    command.input = input;
    command.time_limit = kTestPatience;
    return command;
  }

  std::optional<PrivateDaemon> daemon_;
  std::optional<Engine> engine_;
};

}  // namespace krl::docker::testing
