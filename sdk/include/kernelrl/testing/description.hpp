// Collects, for tests, what a policy or a backend reports of itself: describe() and preview() push
// it, and it is kept here together with its texts.
#pragma once

#include <kernelrl/growth.hpp>
#include <kernelrl/values.hpp>

#include <memory>
#include <stdexcept>
#include <string>

namespace krl::testing {

struct PolicyDescription : krl_policy_info {
  std::shared_ptr<const std::string> text;  // behind `description`
};

struct BackendDescription : krl_backend_info {
  std::shared_ptr<const std::string> texts[2];  // behind `toolchain` and `device`
};

namespace detail {

inline std::shared_ptr<const std::string> keep(krl_str* text) {
  auto kept = std::make_shared<const std::string>(view(*text));
  *text = to_c(*kept);
  return kept;
}

inline krl_status keep(const krl_policy_info_sink* sink, const krl_policy_info* info) {
  auto* kept = static_cast<PolicyDescription*>(sink->ctx);
  static_cast<krl_policy_info&>(*kept) = whole(*info);
  kept->text = keep(&kept->description);
  return KRL_OK;
}

inline krl_status keep(const krl_backend_info_sink* sink, const krl_backend_info* info) {
  auto* kept = static_cast<BackendDescription*>(sink->ctx);
  static_cast<krl_backend_info&>(*kept) = whole(*info);
  kept->texts[0] = keep(&kept->toolchain);
  kept->texts[1] = keep(&kept->device);
  return KRL_OK;
}

template <class Description, class Sink, class Call>
Description described(const Call& call) {
  Description description{};
  Sink sink{};
  sink.struct_size = sizeof sink;
  sink.ctx = &description;
  sink.info = keep;
  call(&sink);
  if (description.struct_size == 0) throw std::runtime_error("the plugin pushed no description");
  return description;
}

}  // namespace detail

// `call` passes the sink to describe() or preview(), and throws if that fails.
template <class Call>
PolicyDescription policy_description(const Call& call) {
  return detail::described<PolicyDescription, krl_policy_info_sink>(call);
}
template <class Call>
BackendDescription backend_description(const Call& call) {
  return detail::described<BackendDescription, krl_backend_info_sink>(call);
}

}  // namespace krl::testing
