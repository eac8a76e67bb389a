// A training run in small, for tests of what survives: everything it writes follows from its plan,
// as in a real one, and its "policy" is one number that every iteration changes, so that an
// iteration lost or done twice changes all that follow.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/file_system.hpp"
#include "core/base/result.hpp"

namespace krl::test {
using namespace core;

struct ToyRun {
  int iterations = 9;
  int checkpoint_every = 2;
};

// Runs, or resumes, the toy in `directory` to its end, or until a write fails.
Status run_toy(const ToyRun& toy, const std::filesystem::path& directory, FileSystem& files);

// What must not depend on interruptions: the lines of metrics.jsonl without what is not repeatable,
// and what the ledger and best/ say at the end.
std::vector<std::string> outcome(const std::filesystem::path& directory);

}  // namespace krl::test
