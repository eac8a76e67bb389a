#include "serve/native/outcome_text.hpp"

#include <fmt/format.h>

namespace krl::serve {
std::string text_of(const Outcome& outcome, const std::string& id,
                    std::chrono::seconds retry_after) {
  if (!outcome.told) return dumped(error_json(outcome.told.error(), retry_after));
  const std::string head = id.empty() ? "{" : "{\"id\":\"" + id + "\",";
  return fmt::format("{}{},\"kept\":{},\"queued_ms\":{:.3f},\"judged_ms\":{:.3f}}}", head,
                     (*outcome.told)->json, outcome.kept, outcome.queued_ms, outcome.judged_ms);
}

http::Answer answer_of(const Outcome& outcome, const std::string& id,
                       std::chrono::seconds retry_after) {
  if (outcome.told) return text_answer(text_of(outcome, id), "application/json");
  return error_answer(outcome.told.error(), retry_after);
}

}  // namespace krl::serve
