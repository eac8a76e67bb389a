// Tests of nvcc in a container: a daemon of their own, an image made from this machine's g++, and
// this machine's CUDA toolkit. No GPU is needed.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <kernelrl/values.hpp>
#include <memory>
#include <string>
#include <vector>

#include "plugins/backends/nvcc/nvcc_toolkit.hpp"
#include "tests/unit/backends/docker/docker_fixture.hpp"

namespace krl::docker::testing {

class CompilerFixture : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string obstacle = PrivateDaemon::obstacle();
    if (!obstacle.empty()) GTEST_SKIP() << obstacle;
    std::vector<std::string> programs;
    try {
      programs = nvcc_programs();
    } catch (const Failure& failure) {
      GTEST_SKIP() << "skipped: " << failure.what();
    }
    daemon_ = daemon_with_image(programs);
  }

  static std::vector<std::string> nvcc_programs() {
    const auto nvcc = nvcc::find_nvcc({}, KERNELRL_PYTHON_DEPS);
    const auto toolkit = nvcc.parent_path().parent_path();
    return {nvcc, toolkit / "bin/cudafe++", toolkit / "bin/ptxas", toolkit / "nvvm/bin/cicc"};
  }

  // One for all tests of a process: a daemon and an image of this size take seconds.
  static std::shared_ptr<PrivateDaemon> daemon_with_image(
      const std::vector<std::string>& programs) {
    static const std::shared_ptr<PrivateDaemon> daemon = [&] {
      auto started = std::make_shared<PrivateDaemon>();
      import_compiler_image(Engine(started->socket(), Patience::of(kTestPatience)), programs);
      return started;
    }();
    return daemon;
  }

  std::shared_ptr<PrivateDaemon> daemon_;
};

}  // namespace krl::docker::testing
