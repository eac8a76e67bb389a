#include "core/plugin/instance.hpp"

#include "core/base/log.hpp"
#include "core/plugin/config_view.hpp"
#include "core/plugin/host.hpp"

namespace krl {

Result<Instance> Instance::create(const Component& component, const nlohmann::json& table,
                                  const CallScope& scope) {
  const ConfigView config(table);
  std::atomic<bool> given_up{false};
  return krl::patiently(Tries(scope, given_up), [&]() -> Result<Instance> {
    Call call(component, scope);
    void* self = nullptr;
    KRL_TRY(call.run("create",
                     [&] { return component.raw->create(host(), config.c(), call.c(), &self); }));
    if (self == nullptr) return failure(call.broken("create", "it gave no instance"));
    return Instance(component, scope, self);
  });
}

// There is no caller who could be told of an exception.
void Instance::Destroy::operator()(void* self) const {
  const auto thrown =
      enter(callee_of(*component), "destroy", [&] { component->raw->destroy(self); });
  if (!thrown) return;
  const CallScope scope;
  log(Severity::kError, Call(*component, scope).threw("destroy", *thrown).message);
}

}  // namespace krl
