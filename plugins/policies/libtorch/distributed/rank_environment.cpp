#include "plugins/policies/libtorch/distributed/rank_environment.hpp"

#include <charconv>
#include <climits>
#include <cstdlib>
#include <kernelrl/values.hpp>

namespace krl::libtorch {
namespace {

constexpr int kMostRanks = 4096;
constexpr int kMostPort = 65535;
// srun names no port: one that follows from the job, so that two jobs of one machine do not meet.
constexpr int kFirstSlurmPort = 20000, kSlurmPorts = 12000;

// Reads the variables of one launcher; errors name it.
class LauncherVariables {
 public:
  LauncherVariables(const Variables& variables, std::string launcher)
      : variables_(variables), launcher_(std::move(launcher)) {}

  std::optional<std::string> find(const char* name) const {
    auto value = variables_(name);
    return value && !value->empty() ? value : std::nullopt;
  }

  std::string text(const char* name) const {
    if (auto value = find(name)) return *value;
    invalid_argument("the environment variable " + std::string(name) +
                     " is not set, but others of " + launcher_ +
                     " are; set all of them, or none to run alone");
  }

  int number(const char* name, int least, int most) const {
    return parse(name, text(name), least, most);
  }

  int number_or(const char* name, int least, int most, int otherwise) const {
    const auto value = find(name);
    return value ? parse(name, *value, least, most) : otherwise;
  }

 private:
  int parse(const char* name, const std::string& text, int least, int most) const {
    int value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error == std::errc() && stop == end && value >= least && value <= most) return value;
    invalid_argument("the environment variable " + std::string(name) + " of " + launcher_ +
                     " is '" + text + "'; it must be a number from " + std::to_string(least) +
                     " to " + std::to_string(most));
  }

  const Variables& variables_;
  std::string launcher_;
};

RankEnvironment from_torchrun(const LauncherVariables& variables) {
  RankEnvironment ranks;
  ranks.size = variables.number("WORLD_SIZE", 1, kMostRanks);
  ranks.rank = variables.number("RANK", 0, ranks.size - 1);
  if (ranks.alone()) return ranks;
  ranks.local_rank = variables.number("LOCAL_RANK", 0, ranks.size - 1);
  ranks.address = variables.text("MASTER_ADDR");
  ranks.port = variables.number("MASTER_PORT", 1, kMostPort);
  return ranks;
}

std::string slurm_address(const LauncherVariables& variables) {
  if (auto address = variables.find("MASTER_ADDR")) return *address;
  for (const char* list : {"SLURM_STEP_NODELIST", "SLURM_NODELIST"}) {
    if (const auto hosts = variables.find(list)) {
      if (std::string host = first_host(*hosts); !host.empty()) return host;
    }
  }
  if (auto address = variables.find("SLURM_LAUNCH_NODE_IPADDR")) return *address;
  return variables.text("SLURM_NODELIST");  // reports that it is missing
}

RankEnvironment from_slurm(const LauncherVariables& variables) {
  RankEnvironment ranks;
  const char* tasks =
      variables.find("SLURM_STEP_NUM_TASKS") ? "SLURM_STEP_NUM_TASKS" : "SLURM_NTASKS";
  ranks.size = variables.number(tasks, 1, kMostRanks);
  ranks.rank = variables.number("SLURM_PROCID", 0, ranks.size - 1);
  if (ranks.alone()) return ranks;
  ranks.local_rank = variables.number("SLURM_LOCALID", 0, ranks.size - 1);
  ranks.address = slurm_address(variables);
  const int job = variables.number_or("SLURM_JOB_ID", 0, INT_MAX, 0);
  ranks.port =
      variables.number_or("MASTER_PORT", 1, kMostPort, kFirstSlurmPort + job % kSlurmPorts);
  return ranks;
}

}  // namespace

RankEnvironment rank_environment(const Variables& variables) {
  const LauncherVariables torchrun(variables, "torchrun or kernelrl launch");
  if (torchrun.find("RANK") || torchrun.find("WORLD_SIZE")) return from_torchrun(torchrun);
  const LauncherVariables slurm(variables, "srun");
  if (slurm.find("SLURM_PROCID")) return from_slurm(slurm);
  return {};
}

RankEnvironment rank_environment() {
  return rank_environment([](const char* name) -> std::optional<std::string> {
    const char* value = std::getenv(name);
    return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
  });
}

std::string first_host(const std::string& list) {
  const std::size_t bracket = list.find('['), comma = list.find(',');
  if (bracket == std::string::npos || comma < bracket) return list.substr(0, comma);
  const std::size_t end = list.find_first_of(",-]", bracket);
  if (end == std::string::npos) return {};
  const std::size_t close = list.find(']', bracket);
  if (close == std::string::npos) return {};
  const std::size_t next = list.find(',', close);
  const std::size_t suffix = next == std::string::npos ? list.size() : next;
  return list.substr(0, bracket) + list.substr(bracket + 1, end - bracket - 1) +
         list.substr(close + 1, suffix - close - 1);
}

}  // namespace krl::libtorch
