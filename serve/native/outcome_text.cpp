#include "serve/native/outcome_text.hpp"

#include <fmt/format.h>

namespace krl::serve {
namespace {

std::chrono::seconds retry_after_of(const Error& error, std::chrono::seconds retry_after) {
  const bool may_help = error.code == Code::kUnavailable || error.code == Code::kResourceExhausted;
  return may_help ? retry_after : std::chrono::seconds(0);
}

}  // namespace

std::string text_of(const Outcome& outcome, const std::string& id,
                    std::chrono::seconds retry_after) {
  if (!outcome.told) {
    const Error& error = outcome.told.error();
    return error_json(error, retry_after_of(error, retry_after))
        .dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  const std::string head = id.empty() ? "{" : "{\"id\":\"" + id + "\",";
  return fmt::format("{}{},\"kept\":{},\"queued_ms\":{:.3f},\"judged_ms\":{:.3f}}}", head,
                     (*outcome.told)->json, outcome.kept, outcome.queued_ms, outcome.judged_ms);
}

http::Answer answer_of(const Outcome& outcome, const std::string& id,
                       std::chrono::seconds retry_after) {
  if (outcome.told) return text_answer(text_of(outcome, id), "application/json");
  const Error& error = outcome.told.error();
  return error_answer(error, retry_after_of(error, retry_after));
}

}  // namespace krl::serve
