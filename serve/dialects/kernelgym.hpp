// KernelGYM's server, for tasks that were imported from KernelBench: POST /evaluate with a problem's
// source and an answer to it, and /status and /results of what was judged.
// https://github.com/hkust-nlp/KernelGYM
#pragma once

#include "serve/judging/judge_service.hpp"
#include "serve/routing/router.hpp"

namespace krl::serve::kernelgym {

void add_routes(JudgeService& service, Router& router);

}  // namespace krl::serve::kernelgym
