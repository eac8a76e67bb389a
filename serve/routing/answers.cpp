#include "serve/routing/answers.hpp"

namespace krl::serve {
namespace {

struct CodeWords {
  Code code;
  unsigned status;
  const char* name;
};

// The status of HTTP and the name of an error.
CodeWords words_of(Code code) {
  static constexpr CodeWords kWords[] = {
      {Code::kInvalidArgument, 400, "invalid_argument"},
      {Code::kNotFound, 404, "not_found"},
      {Code::kFailedPrecondition, 422, "failed_precondition"},
      {Code::kUnimplemented, 422, "unimplemented"},
      {Code::kResourceExhausted, 429, "resource_exhausted"},
      {Code::kCancelled, 499, "cancelled"},
      {Code::kUnavailable, 503, "unavailable"},
      {Code::kDeadlineExceeded, 504, "deadline_exceeded"},
  };
  for (const CodeWords& words : kWords)
    if (words.code == code) return words;
  return {code, 500, "internal"};
}

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

Json error_json(const Error& error, std::chrono::seconds retry_after) {
  Json json = {{"code", words_of(error.code).name}, {"message", error.message}};
  if (may_help(error, retry_after)) json["retry_after_s"] = retry_after.count();
  return {{"error", std::move(json)}};
}

http::Answer error_answer(const Error& error, std::chrono::seconds retry_after) {
  http::Answer answer = json_answer(error_json(error, retry_after), words_of(error.code).status);
  if (may_help(error, retry_after))
    answer.headers.push_back({"Retry-After", std::to_string(retry_after.count())});
  return answer;
}

http::Answer refusal(unsigned status, const char* code, const std::string& message) {
  return json_answer({{"error", {{"code", code}, {"message", message}}}}, status);
}

http::Answer answer_of(const Result<Json>& json) {
  return json ? json_answer(*json) : error_answer(json.error());
}

}  // namespace krl::serve
