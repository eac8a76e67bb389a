// A call that waits for its verdicts: POST /v1/evaluate for one kernel or a batch, as one answer or
// as a stream of events.
#pragma once

#include "serve/judging/judge_service.hpp"
#include "serve/routing/router.hpp"

namespace krl::serve {

// Judges what the body asks for, and answers. If the client leaves, nothing more is judged for it.
void answer_evaluate(JudgeService& service, const RoutedCall& call, const Json& body);

}  // namespace krl::serve
