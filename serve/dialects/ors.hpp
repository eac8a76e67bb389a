// The Open Reward Standard: sessions named by a header, a task each, and a tool "submit" whose
// result comes as an event stream. https://openrewardstandard.io, openreward 0.1
#pragma once

#include "serve/dialects/environment.hpp"

namespace krl::serve::ors {

void add_routes(JudgeService& service, Router& router);

}  // namespace krl::serve::ors
