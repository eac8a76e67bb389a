// What is wrong with a broken component, as its options say: which defect, in which of its
// functions, from which call on. With KERNELRL_TEST_REPAIRED in the environment nothing is: the
// file is the same, so that a run continues with the very plugin that broke it.
#pragma once

#include <kernelrl/component.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace broken {

inline constexpr std::size_t kMegabyte = 1U << 20U;

// A base of every broken component. One thread at a time, as the component is not thread-safe.
class Trouble {
 public:
  std::string defect = "none", at;
  std::int64_t from = 9, times = 0;

  // `functions`: of its table, the usual one first.
  static constexpr auto options(const char* functions) {
    return krl::config(
        krl::opt("defect", &Trouble::defect, "what is wrong; none: nothing"),
        krl::opt("at", &Trouble::at, "the function that it is wrong in").one_of(functions),
        krl::opt("from", &Trouble::from, "the first call of it that goes wrong").at_least(1),
        krl::opt("times", &Trouble::times, "calls that go wrong; 0: all from there").at_least(0));
  }

  // A call of `function` begins. From here to the next, is() tells of this call.
  void enter(std::string_view function);
  bool is(std::string_view name) const { return now_ == name; }

  // The defects that every function can have: crashes, exits, endless loops and their like. A
  // status if the call is to end with it.
  std::optional<krl_status> misbehave(const krl_call* context) const;

 private:
  std::string_view now_;    // the defect of this call; empty: none
  std::int64_t calls_ = 0;  // of `at`
};

// `kCall` of the SDK's table for T, with what T's Trouble does before. Exceptions pass, though the
// boundary forbids it.
template <class T, const auto& kFunction, auto kCall>
struct Troubled;
template <class T, const auto& kFunction, class... Rest,
          krl_status (*kCall)(void*, const krl_call*, Rest...) noexcept>
struct Troubled<T, kFunction, kCall> {
  static krl_status call(void* self, const krl_call* context, Rest... rest) {
    T& component = *static_cast<T*>(static_cast<typename T::Base*>(self));
    component.enter(kFunction);
    if (const auto status = component.misbehave(context)) return *status;
    return kCall(self, context, rest...);
  }
};

inline constexpr char kCreate[] = "create";
inline constexpr char kDestroy[] = "destroy";

template <class T>
krl_status create(const krl_host* host, const krl_config* config, const krl_call* context,
                  void** self) {
  T component;
  krl::detail::Options<T>::bind(component, config);
  component.enter(kCreate);
  if (const auto status = component.misbehave(context)) return *status;
  return krl::detail::create<T, typename T::Base>(host, config, context, self);
}

template <class T>
void destroy(void* self) {
  T& component = *static_cast<T*>(static_cast<typename T::Base*>(self));
  component.enter(kDestroy);
  component.misbehave(nullptr);
  krl::detail::destroy<typename T::Base>(self);
}

// The component as the SDK describes it, with `table` in place of its own.
template <class T>
krl_component troubled(const krl_component* sdk, const void* table) {
  krl_component component = *sdk;
  component.create = create<T>;
  component.destroy = destroy<T>;
  component.table = table;
  return component;
}

}  // namespace broken
