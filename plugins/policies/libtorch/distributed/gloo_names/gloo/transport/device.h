// The names of Gloo that torch's ProcessGroupGloo.hpp mentions: the wheel carries that header and
// Gloo itself, but not the headers of Gloo. Only declared: torch builds and uses these objects, we
// only hold them. See distributed/gloo_backend.cpp.
#pragma once

namespace gloo::transport {
class Device;
class UnboundBuffer;
}  // namespace gloo::transport
