// The answers and kernels that a run kept: samples/iteration_000013.jsonl, best/TASK.json and the
// others.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/base/result.hpp"
#include "core/run/best.hpp"
#include "core/run/run_directory.hpp"

namespace krl::service {
using namespace core;

// Passes every sample in turn, with its iteration, until `use` returns an error. A line that is no
// sample, or of which `use` cannot read a key, is an error that names it. Tells `missing` how many
// samples of an iteration were not kept.
Status each_sample(const RunLayout& run,
                   const std::function<Status(const nlohmann::json& sample, int iteration)>& use,
                   const std::function<void(int iteration, std::int64_t count)>& missing = {});

// The kernels of best/, by the names of their files. A file that is none is an error that names it.
Result<std::vector<BestKernel>> read_best_kernels(const RunLayout& run);

}  // namespace krl::service
