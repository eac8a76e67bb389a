// Processes of this program on this machine that are the ranks of one training. Main thread, before
// any other thread runs.
#pragma once

#include "cli/command_line.hpp"

namespace krl::cli {

// Starts `ranks` processes of this program with `words`, each with RANK, WORLD_SIZE, LOCAL_RANK,
// LOCAL_WORLD_SIZE, MASTER_ADDR and MASTER_PORT in its environment, and returns when all have
// ended. Passes SIGINT, SIGTERM and SIGHUP on. Prints their lines, each with its rank in front.
// When one fails the others are asked to end by SIGTERM, and killed half a minute later. The exit
// code: of the first that failed, 128 + the signal that killed it, or 0.
int run_ranks(int ranks, int port, const Words& words);

}  // namespace krl::cli
