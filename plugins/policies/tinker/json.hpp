// The protocol as JSON. Requests are written completely; of answers the needed fields are read, and
// others ignored. Reading throws WireError. Pure functions: thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "plugins/policies/tinker/messages.hpp"

namespace krl::tinker {

std::string to_json(const CreateSession&);
std::string to_json(const SessionHeartbeat&);
std::string to_json(const CreateModel&);
std::string to_json(const UnloadModel&);
std::string to_json(const SaveWeightsForSampler&);
std::string to_json(const CreateSamplingSession&);
std::string to_json(const SampleRequest&);
std::string to_json(const ForwardBackward&);
std::string to_json(const OptimStep&);
std::string to_json(const SaveWeights&);
std::string to_json(const LoadWeights&);
std::string to_json(const RetrieveFuture&);

// T is one of the answers of messages.hpp.
template <class T>
T from_json(std::string_view body);
template <>
Promise from_json(std::string_view body);
template <>
SessionOpened from_json(std::string_view body);
template <>
CreatedModel from_json(std::string_view body);
template <>
Capabilities from_json(std::string_view body);
template <>
SamplingSession from_json(std::string_view body);
template <>
SampleAnswer from_json(std::string_view body);
template <>
ForwardBackwardAnswer from_json(std::string_view body);
template <>
OptimStepAnswer from_json(std::string_view body);
template <>
SavedWeights from_json(std::string_view body);
template <>
Done from_json(std::string_view body);

// The answer of retrieve_future instead of a result; nothing if this is not one.
std::optional<TryAgain> try_again_from_json(std::string_view body);
std::optional<RequestFailed> failure_from_json(std::string_view body);

// Returns the message of an error's body, in a line of at most 300 characters: "detail", "error" or
// "message" of a JSON object, otherwise the text itself.
std::string error_text(std::string_view body);

}  // namespace krl::tinker
