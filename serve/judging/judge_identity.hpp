// What the verdicts and times of a server depend on, as a text. Pure.
#pragma once

#include <string>

#include "core/episode/judge.hpp"
#include "core/plan/keys.hpp"

namespace krl::serve {
using namespace core;

// Judge::identity(), and the options of its backends that are not as they are by default, but for
// those that only say where and with what resources a backend works. Two servers are alike if they
// have the same text.
std::string judge_identity(const std::string& backends, const BackendSettings& settings,
                           const Catalog& catalog);

}  // namespace krl::serve
