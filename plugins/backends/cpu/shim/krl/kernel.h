// KRL_KERNEL(index, kernel): exports what the emulator needs to check and make a launch of `kernel`.
#pragma once

template <class T>
struct krl_parameter_of {
  static constexpr bool integer = T(3) / T(2) == T(1);
  static constexpr krl_parameter value = {integer ? 1u : 2u, sizeof(T), 0, 0};
};
template <class T>
constexpr unsigned krl_size_of = sizeof(T);
template <>
inline constexpr unsigned krl_size_of<void> = 0;
template <>
inline constexpr unsigned krl_size_of<const void> = 0;
template <class T>
struct krl_parameter_of<T*> {
  static constexpr krl_parameter value = {0, sizeof(T*), 0, krl_size_of<T>};
};
template <class T>
struct krl_parameter_of<const T*> {
  static constexpr krl_parameter value = {0, sizeof(T*), 1, krl_size_of<T>};
};
template <class T>
struct krl_parameter_of<const T> : krl_parameter_of<T> {};

// Types that are neither numbers nor pointers.
template <class T, bool arithmetic>
struct krl_parameter_for { static constexpr krl_parameter value = {3, sizeof(T), 0, 0}; };
template <class T>
struct krl_parameter_for<T, true> : krl_parameter_of<T> {};
template <class T>
constexpr bool krl_is_plain = !(__is_class(T) || __is_union(T) || __is_enum(T));

template <unsigned... I>
struct krl_indices {};

template <class Kernel>
struct krl_signature;
template <class... P>
struct krl_signature<void (*)(P...)> {
  static constexpr unsigned count = sizeof...(P);
  static constexpr krl_parameter parameters[sizeof...(P) + 1] = {krl_parameter_for<P, krl_is_plain<P>>::value..., {}};
  template <unsigned... I>
  static KRL_INLINE void call(void (*kernel)(P...), krl_indices<I...>) {
    if constexpr ((... && (sizeof(P) <= sizeof krl_arguments[0]))) kernel(krl_value<P>(krl_arguments[I])...);
    else krl_trap();  // the emulator refuses such a launch before it gets here
  }
  using indices = krl_indices<__integer_pack(sizeof...(P))...>;
};

#define KRL_KERNEL(index, ...)                                                                                        \
  static void krl_invoke_##index() {                                                                  \
    using signature = krl_signature<decltype(&__VA_ARGS__)>;                                                          \
    signature::call(&__VA_ARGS__, signature::indices{});                                                   \
  }                                                                                                                   \
  extern "C" __attribute__((visibility("default"))) const krl_kernel_record krl_kernel_##index = {                    \
      (void (*)())&__VA_ARGS__, &krl_invoke_##index, krl_signature<decltype(&__VA_ARGS__)>::count,                    \
      krl_signature<decltype(&__VA_ARGS__)>::parameters};
