// Finds which of several processes this one is, according to its launcher: torchrun, srun or
// `kernelrl launch`. Independent of torch. Thread-safe as long as the environment does not change.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace krl::libtorch {

struct RankEnvironment {
  int rank = 0;
  int size = 1;
  int local_rank = 0;   // among the processes of this machine: which GPU is meant for this one
  std::string address;  // address of rank 0; empty if this process is alone
  int port = 0;         // a port on which rank 0 can listen

  bool alone() const { return size == 1; }
};

// A variable's value; nothing where it is not set. An empty one counts as not set.
using Variables = std::function<std::optional<std::string>(const char* name)>;

// Reads RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and MASTER_PORT, which torchrun and `kernelrl
// launch` set; else SLURM_PROCID, SLURM_STEP_NUM_TASKS or SLURM_NTASKS, SLURM_LOCALID and the first
// host of SLURM_STEP_NODELIST or SLURM_NODELIST, or SLURM_LAUNCH_NODE_IPADDR (rank 0 runs on the
// first host; MASTER_ADDR and MASTER_PORT take precedence). Without any of them the process is
// alone. Throws krl::Failure (KRL_INVALID_ARGUMENT) that names a variable that is missing or wrong.
RankEnvironment rank_environment(const Variables& variables);

// The same from this process's own environment.
RankEnvironment rank_environment();

// Returns the first host of a list in Slurm's form: "gpu03" for "gpu[03-05,9],login". Empty if
// there is none.
std::string first_host(const std::string& list);

}  // namespace krl::libtorch
