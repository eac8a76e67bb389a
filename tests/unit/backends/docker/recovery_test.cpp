// Containers and daemons that die, and what killed processes leave behind.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "plugins/backends/docker/owner.hpp"
#include "tests/unit/backends/docker/docker_fixture.hpp"
#include "tests/wait_while.hpp"

namespace krl::docker::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class RecoveryTest : public DockerFixture {
 protected:
  static Patience patience() { return Patience::of(kTestPatience); }

  std::size_t containers() const {
    return engine_->containers_with_label(kOwnerLabel, patience()).size();
  }

  // Until a command of failure_of_sleeper() runs. The digits are not together in what looks for
  // them.
  void await_sleeper(const std::string& name) const {
    const ExecRequest look{{"/bin/sh", "-c", "grep -q 123456''7 /proc/*/cmdline"}, {}, "1:1", "/"};
    std::optional<int> code;
    while (code != 0) {
      const std::string exec = engine_->create_exec(name, look, patience());
      engine_->run_exec(exec, {}, {}, patience());
      code = engine_->exit_code(exec, patience());
    }
  }

  static Failure failure_of_sleeper(Container& container) {
    try {
      container.run(shell("sleep 1234567"));
    } catch (const Failure& failure) {
      return failure;
    }
    return {KRL_OK, "no failure"};
  }

  void start_container_of(const std::string& owner) const {
    const ContainerIdentity identity{*engine_->image_id(kSmallImage, patience()), owner, 70'000};
    const std::string name = "test-" + std::to_string(containers());
    engine_->create(name, container_specification(settings(), identity), patience());
    engine_->start(name,
                   patience());  // nobody holds its input, but nobody has ever attached either
  }
};

TEST_F(RecoveryTest, AContainerThatDiedIsReplaced) {
  Container container(settings());
  const std::string first = container.name();
  EXPECT_TRUE(container.run(shell("true")).ok());
  engine_->kill(first, patience());
  EXPECT_TRUE(container.run(shell("true")).ok());
  EXPECT_NE(container.name(), first);
  EXPECT_EQ(containers(), 1u);
}

TEST_F(RecoveryTest, ACommandWhoseContainerDiesSaysSo) {
  Container container(settings());
  std::jthread killer([&] {
    const std::string name = container.name();
    await_sleeper(name);
    engine_->kill(name, patience());
  });
  const Failure failure = failure_of_sleeper(container);
  EXPECT_EQ(failure.code(), KRL_UNAVAILABLE);
  EXPECT_THAT(failure.what(), HasSubstr("worker container died"));
  EXPECT_TRUE(container.run(shell("true")).ok());
}

TEST_F(RecoveryTest, ACommandWhoseDaemonStopsSaysSo) {
  Container container(settings());
  std::jthread stopper([&] {
    await_sleeper(container.name());
    daemon_->stop();
  });
  const Failure failure = failure_of_sleeper(container);
  EXPECT_EQ(failure.code(), KRL_UNAVAILABLE);
  EXPECT_THAT(failure.what(), HasSubstr("Docker"));
}

TEST_F(RecoveryTest, WithoutItsDaemonACommandSaysSo) {
  Container container(settings());
  daemon_->stop();
  try {
    container.run(shell("true"));
    ADD_FAILURE() << "no failure";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), KRL_UNAVAILABLE);
    EXPECT_THAT(failure.what(), AllOf(HasSubstr("no Docker daemon at " + daemon_->socket()),
                                      HasSubstr("systemctl start docker")));
  }
}

TEST_F(RecoveryTest, WithoutItsImageSaysHowToBuildIt) {
  ContainerSettings other = settings();
  other.image = "kernelrl-nowhere";
  try {
    Container container(other);
    ADD_FAILURE() << "no failure";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), KRL_FAILED_PRECONDITION);
    EXPECT_THAT(failure.what(), AllOf(HasSubstr("no image kernelrl-nowhere"),
                                      HasSubstr("scripts/docker_image.sh")));
  }
  EXPECT_EQ(containers(), 0u);
}

TEST_F(RecoveryTest, ASpecificationThatDockerRefusesLeavesNothing) {
  ContainerSettings bad = settings();
  bad.mounts = {{"/no/such/folder", "/usr/local/cuda"}};
  try {
    Container container(bad);
    ADD_FAILURE() << "no failure";
  } catch (const Failure& failure) {
    EXPECT_THAT(failure.what(), AllOf(HasSubstr("creating a container: Docker answered 400"),
                                      HasSubstr("/no/such/folder")));
  }
  EXPECT_EQ(containers(), 0u);
}

TEST_F(RecoveryTest, WithoutTheDriverOfAGpuSaysHowToGetIt) {
  ContainerSettings with_gpu = settings();
  with_gpu.gpu = GpuAccess::kNvidia;
  try {
    Container container(with_gpu);
    GTEST_SKIP() << "skipped: this machine has NVIDIA's container toolkit";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), KRL_FAILED_PRECONDITION);
    EXPECT_THAT(failure.what(), AllOf(HasSubstr("could not select device driver"),
                                      HasSubstr("nvidia-container-toolkit")));
  }
  EXPECT_EQ(containers(), 0u);
}

TEST_F(RecoveryTest, IsGoneWithItsObject) {
  { Container container(settings()); }
  EXPECT_EQ(containers(), 0u);
}

TEST_F(RecoveryTest, EndsWithAProcessThatIsKilled) {
  const ContainerSettings of_child = settings();
  const pid_t child = ::fork();
  if (child == 0) {
    Container container(of_child);
    ::raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  const auto deadline = Patience::Clock::now() + kTestPatience;
  test::wait_while([&] { return containers() > 0 && Patience::Clock::now() < deadline; });
  EXPECT_EQ(containers(), 0u);
}

TEST_F(RecoveryTest, LeftoversOfDeadOwnersAreRemovedAtTheNextStart) {
  const std::string mine = mark_of_this_process();
  start_container_of(mine);
  start_container_of(mine + "0");  // our id in an earlier life
  ASSERT_EQ(containers(), 2u);
  {
    Container container(settings());
    EXPECT_EQ(containers(), 2u);  // the living owner's and the new one
  }
  const auto left = engine_->containers_with_label(kOwnerLabel, patience());
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left.front().labels.at(kOwnerLabel), mine);
}

}  // namespace
}  // namespace krl::docker::testing
