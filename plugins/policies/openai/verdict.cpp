#include "plugins/policies/openai/verdict.hpp"

#include <cstdlib>

#include "http/client/backoff.hpp"

namespace krl::openai {

Verdict verdict_of(const http::Failure& failure) {
  using http::Cause;
  switch (failure.cause()) {
    case Cause::kAddress:
    case Cause::kConnect:
    case Cause::kTimeout:
    case Cause::kBroken:
      return {Verdict::kElsewhere, KRL_OK, failure.what(), {}};
    default:
      return Verdict::never(failure.code(), failure.what());
  }
}

std::optional<unsigned> status_of_error(const nlohmann::json& answer) {
  if (!answer.is_object()) return std::nullopt;
  const auto error = answer.find("error");
  if (error == answer.end() || error->is_null() || error->empty() || *error == "")
    return std::nullopt;
  for (const char* key : {"code", "status", "status_code"}) {
    if (!error->is_object() || !error->contains(key)) continue;
    const nlohmann::json& named = error->at(key);
    const int status = named.is_string()           ? std::atoi(named.get<std::string>().c_str())
                       : named.is_number_integer() ? named.get<int>()
                                                   : 0;
    if (status >= 400 && status < 600) return static_cast<unsigned>(status);
  }
  return 500;
}

Verdict verdict_of(const http::Answer& answer, std::string why, std::time_t now) {
  switch (answer.status) {
    case 400:  // the request itself is wrong
    case 413:
    case 422:
      return Verdict::never(KRL_INVALID_ARGUMENT, std::move(why));
    case 408:  // too busy, or something that may pass
    case 409:
    case 425:
    case 429:
    case 500:
    case 529:
      return {Verdict::kAgain, KRL_OK, std::move(why),
              http::retry_after(answer.header("Retry-After"), now)};
    default:
      break;
  }
  if (answer.status > 500) return {Verdict::kElsewhere, KRL_OK, std::move(why), {}};
  return Verdict::never(KRL_FAILED_PRECONDITION, std::move(why));  // 401, 403, 404, a redirect, …
}

}  // namespace krl::openai
