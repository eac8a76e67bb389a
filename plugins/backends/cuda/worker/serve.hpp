// The loop of a GPU's process: answers requests until its input ends, even while a kernel hangs.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace krl::gpu {

using Handlers = std::map<std::string, std::function<nlohmann::json(const nlohmann::json&)>>;

// The handler of requests that are the argument of a method; `object` is made by an earlier one.
template <class Object, class Result, class Argument>
auto calls(const std::unique_ptr<Object>& object, Result (Object::*method)(const Argument&)) {
  return [&object, method](const nlohmann::json& request) -> nlohmann::json {
    if (!object) throw std::runtime_error("request before setup");
    const auto argument = request.get<Argument>();
    if constexpr (!std::is_void_v<Result>) return ((*object).*method)(argument);
    if constexpr (std::is_void_v<Result>) ((*object).*method)(argument);
    return nullptr;
  };
}

// The same of a method without one.
template <class Object, class Result>
auto calls(const std::unique_ptr<Object>& object, Result (Object::*method)()) {
  return [&object, method](const nlohmann::json&) -> nlohmann::json {
    if (!object) throw std::runtime_error("request before setup");
    return ((*object).*method)();
  };
}

class DeviceSession;

// The requests on a session that all processes answer that run kernels.
Handlers session_handlers(const std::unique_ptr<DeviceSession>& session);

// Exceptions of a handler become a Trouble. Returns the exit code of the process.
int serve(const Handlers& handlers);

}  // namespace krl::gpu
