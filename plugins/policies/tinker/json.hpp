// The protocol as JSON. Requests are written completely; of answers the needed fields are read, and
// others ignored. Reading throws krl::Failure, which names the place of what violates the protocol.
// Pure functions: thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "plugins/policies/tinker/messages.hpp"

namespace krl::tinker {

// T is one of the requests of messages.hpp.
template <class T>
std::string to_json(const T& request);

// T is one of the answers of messages.hpp.
template <class T>
T from_json(std::string_view body);

// The answer of retrieve_future instead of a result; nothing if this is not one.
std::optional<TryAgain> try_again_from_json(std::string_view body);
std::optional<RequestFailed> failure_from_json(std::string_view body);

// Returns the message of an error's body, in a line of at most 300 characters: "detail", "error" or
// "message" of a JSON object, otherwise the text itself.
std::string error_text(std::string_view body);

}  // namespace krl::tinker
