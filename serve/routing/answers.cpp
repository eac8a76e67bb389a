#include "serve/routing/answers.hpp"

namespace krl::serve {
namespace {

bool may_help(const Error& error, std::chrono::seconds retry_after) {
  const bool is_busy = error.code == Code::kUnavailable || error.code == Code::kResourceExhausted;
  return is_busy && retry_after.count() > 0;
}

}  // namespace

std::string dumped(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

http::Answer text_answer(std::string text, const char* type, unsigned status) {
  return {status, {{"Content-Type", type}}, std::move(text)};
}

http::Answer json_answer(const Json& json, unsigned status) {
  return text_answer(dumped(json), "application/json", status);
}

unsigned status_of(Code code) {
  switch (code) {
    case Code::kInvalidArgument:
      return 400;
    case Code::kNotFound:
      return 404;
    case Code::kFailedPrecondition:
    case Code::kUnimplemented:
      return 422;
    case Code::kResourceExhausted:
      return 429;
    case Code::kCancelled:
      return 499;
    case Code::kUnavailable:
      return 503;
    case Code::kDeadlineExceeded:
      return 504;
    default:
      return 500;
  }
}

const char* name_of_code(Code code) {
  switch (code) {
    case Code::kInvalidArgument:
      return "invalid_argument";
    case Code::kNotFound:
      return "not_found";
    case Code::kFailedPrecondition:
      return "failed_precondition";
    case Code::kUnimplemented:
      return "unimplemented";
    case Code::kResourceExhausted:
      return "resource_exhausted";
    case Code::kCancelled:
      return "cancelled";
    case Code::kUnavailable:
      return "unavailable";
    case Code::kDeadlineExceeded:
      return "deadline_exceeded";
    default:
      return "internal";
  }
}

Json error_json(const Error& error, std::chrono::seconds retry_after) {
  Json json = {{"code", name_of_code(error.code)}, {"message", error.message}};
  if (may_help(error, retry_after)) json["retry_after_s"] = retry_after.count();
  return {{"error", std::move(json)}};
}

http::Answer error_answer(const Error& error, std::chrono::seconds retry_after) {
  http::Answer answer = json_answer(error_json(error, retry_after), status_of(error.code));
  if (may_help(error, retry_after))
    answer.headers.push_back({"Retry-After", std::to_string(retry_after.count())});
  return answer;
}

http::Answer refusal(unsigned status, const char* code, const std::string& message) {
  return json_answer({{"error", {{"code", code}, {"message", message}}}}, status);
}

http::Answer answer_of(const Result<Json>& json, std::chrono::seconds retry_after) {
  return json ? json_answer(*json) : error_answer(json.error(), retry_after);
}

}  // namespace krl::serve
