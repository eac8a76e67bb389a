// The part of the protocol that may be sent as protobuf (tinker_public.proto): requests for
// gradients, and the results of gradients and samples. Reading throws WireError. Pure functions:
// thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "plugins/policies/tinker/wire/messages.hpp"

namespace krl::tinker {

inline constexpr const char* kProtobufType = "application/x-protobuf";

std::string to_protobuf(const ForwardBackward&);

// T is SampleAnswer, ForwardBackwardAnswer or, for tests, ForwardBackward.
template <class T>
T from_protobuf(std::string_view body);
template <>
ForwardBackward from_protobuf(std::string_view body);
template <>
ForwardBackwardAnswer from_protobuf(std::string_view body);
template <>
SampleAnswer from_protobuf(std::string_view body);

}  // namespace krl::tinker
