// Outcomes as the native protocol tells them. Pure.
#pragma once

#include <string>

#include "serve/judging/evaluation_queue.hpp"
#include "serve/routing/answers.hpp"

namespace krl::serve {

// {"id": "…", "task": "…", "evaluation": {…}, "headline": "…", "feedback": "…", "kept": false,
//  "queued_ms": 1.2, "judged_ms": 74.0}, or {"error": {…}}. `id`: empty where there is none.
std::string text_of(const Outcome& outcome, const std::string& id = {},
                    std::chrono::seconds retry_after = {});

// The same as an answer. Another try may help a client after `retry_after` where the server was too
// busy.
http::Answer answer_of(const Outcome& outcome, const std::string& id,
                       std::chrono::seconds retry_after);

}  // namespace krl::serve
