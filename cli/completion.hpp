// Says what may come next in a call, for the completion of shells: share/completions starts the
// program with the words so far and KERNELRL_COMPLETE in the environment. Main thread only.
#pragma once

#include <string>

#include "cli/command_line.hpp"

namespace krl::cli {

bool is_completing();

// Returns the words that may follow `words` in a call with this usage, which has these options
// ("--task"): names of what the last one takes if it `takes_value`, which are none where files
// are; or else subcommands, names and options.
Words completions(const Words& words, const Words& options, bool takes_value,
                  const std::string& usage);

}  // namespace krl::cli
