// Answers in JSON, and errors as answers. Pure.
#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>

#include "core/base/result.hpp"
#include "http/base/message.hpp"

namespace krl::serve {
using namespace core;
using Json = nlohmann::ordered_json;

// The text of a value; bytes that are no UTF-8 are replaced.
std::string dumped(const Json& json);

http::Answer json_answer(const Json& json, unsigned status = 200);
http::Answer text_answer(std::string text, const char* type, unsigned status = 200);

// {"error": {"code": "unavailable", "message": "…", "retry_after_s": 2}}; the last member, and the
// header Retry-After, only of errors after which another try may help: of a server that is too busy.
Json error_json(const Error& error, std::chrono::seconds retry_after = {});
// With the status 400 kInvalidArgument, 404 kNotFound, 422 kFailedPrecondition and kUnimplemented,
// 429 kResourceExhausted, 499 kCancelled, 503 kUnavailable, 504 kDeadlineExceeded, or 500.
http::Answer error_answer(const Error& error, std::chrono::seconds retry_after = {});

// The same with a status and a code of HTTP's own.
http::Answer refusal(unsigned status, const char* code, const std::string& message);

// The value, or its error.
http::Answer answer_of(const Result<Json>& json);

}  // namespace krl::serve
