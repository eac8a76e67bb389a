// Shared by all four kinds of components: the context of a call, options bound to members,
// creation.
#pragma once

#include <time.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include <kernelrl/values.hpp>

namespace krl {

// The clock of deadlines, in nanoseconds: CLOCK_MONOTONIC.
inline std::int64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// The host, as seen from one call. Cheap to copy; invalid after the call.
class Context {
 public:
  explicit Context(const krl_call* c) : c_(c) {}

  bool cancelled() const { return c_->cancelled(c_) != 0; }
  // Between two steps of long work: throws KRL_CANCELLED, or KRL_DEADLINE_EXCEEDED.
  void throw_if_cancelled() const {
    if (cancelled()) throw Failure(KRL_CANCELLED, "cancelled");
    if (deadline_ns() != 0 && monotonic_ns() > deadline_ns()) {
      throw Failure(KRL_DEADLINE_EXCEEDED, "it took longer than the plan's run.call_timeout_s");
    }
  }
  // CLOCK_MONOTONIC nanoseconds; 0 = none.
  std::int64_t deadline_ns() const { return c_->deadline_ns; }
  void progress(double done, std::string_view what) const { c_->progress(c_, done, to_c(what)); }
  void metric(std::string_view name, double value) const { c_->metric(c_, to_c(name), value); }
  void info(std::string_view message) const { c_->log(c_, KRL_LOG_INFO, to_c(message)); }
  void warning(std::string_view message) const { c_->log(c_, KRL_LOG_WARNING, to_c(message)); }
  const krl_call* c() const { return c_; }

 private:
  const krl_call* c_;
};

// The component's table of the plan, for options not bound to a member. Valid inside start().
class Config {
 public:
  explicit Config(const krl_config* c) : c_(c) {}

  std::optional<std::int64_t> integer(std::string_view key) const {
    std::int64_t value = 0;
    return c_->get_int(c_, to_c(key), &value) ? std::optional(value) : std::nullopt;
  }
  std::optional<double> number(std::string_view key) const {
    double value = 0;
    return c_->get_float(c_, to_c(key), &value) ? std::optional(value) : std::nullopt;
  }
  std::optional<bool> boolean(std::string_view key) const {
    std::int32_t value = 0;
    return c_->get_bool(c_, to_c(key), &value) ? std::optional(value != 0) : std::nullopt;
  }
  std::optional<std::string> text(std::string_view key) const {
    krl_str value{};
    return c_->get_string(c_, to_c(key), &value) ? std::optional(std::string(view(value)))
                                                 : std::nullopt;
  }
  // The whole table as a JSON object; arrays and free tables are read from it.
  std::string_view json() const { return view(c_->json(c_)); }

 private:
  const krl_config* c_;
};

// The base of Reward, Policy, Backend and Dataset. An instance is used by one thread at a time,
// unless its class declares `static constexpr std::uint32_t flags = KRL_THREAD_SAFE;`.
struct Component {
  virtual ~Component() = default;
  // Called once the options are bound, before any other call: the place for heavy work. Throw
  // Failure to refuse.
  virtual void start(const Config&, const Context&) {}
};

// One option of a component, bound to a data member of type bool, std::int64_t, double or
// std::string. Its default is the member's own initialiser.
template <class Owner, class Member>
struct Option {
  const char* key;
  Member Owner::*member;
  const char* doc;
  const char* choices = "";
  double low = 0, high = 0;
  bool has_low = false, has_high = false, is_path = false;
  std::uint32_t flags = 0;

  constexpr Option range(double from, double to) const {
    Option o = *this;
    o.low = from, o.high = to, o.has_low = o.has_high = true;
    return o;
  }
  constexpr Option at_least(double from) const {
    Option o = *this;
    o.low = from, o.has_low = true;
    return o;
  }
  constexpr Option one_of(const char* bar_separated) const {  // "fast|slow"
    Option o = *this;
    o.choices = bar_separated;
    return o;
  }
  constexpr Option path() const {  // relative to the plan's folder
    Option o = *this;
    o.is_path = true;
    return o;
  }
  constexpr Option required() const {
    Option o = *this;
    o.flags |= KRL_REQUIRED;
    return o;
  }
  constexpr Option secret() const {  // the value names an environment variable
    Option o = *this;
    o.flags |= KRL_SECRET;
    return o;
  }
};

// Makes an option: `opt("limit", &MyReward::limit, "meaning").range(0, 1)`. A key may be dotted,
// "model.layers", for nested tables.
template <class Owner, class Member>
constexpr Option<Owner, Member> opt(const char* key, Member Owner::*member, const char* doc) {
  return Option<Owner, Member>{key, member, doc};
}

// An option without a member, read through Config: `type` is KRL_ARRAY, KRL_TABLE or that of a
// scalar that may be absent.
struct FreeOption {
  const char* key;
  std::uint32_t type;
  const char* doc;
};
constexpr FreeOption free_opt(const char* key, std::uint32_t type, const char* doc) {
  return {key, type, doc};
}

// `static constexpr auto config = krl::config(opt(…), opt(…));` inside the component's class.
template <class... Options>
constexpr std::tuple<Options...> config(Options... options) {
  return {options...};
}

namespace detail {

constexpr std::uint32_t type_of(const bool*) { return KRL_BOOL; }
constexpr std::uint32_t type_of(const std::int64_t*) { return KRL_INT; }
constexpr std::uint32_t type_of(const double*) { return KRL_FLOAT; }
constexpr std::uint32_t type_of(const std::string*) { return KRL_STRING; }

inline std::string toml_text(bool value) { return value ? "true" : "false"; }
inline std::string toml_text(std::int64_t value) { return std::to_string(value); }
inline std::string toml_text(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.15g", value);
  const std::string number = text;
  return number.find_first_of(".en") == std::string::npos ? number + ".0" : number;
}
inline std::string toml_text(const std::string& value) {
  std::string quoted = "\"";
  for (const char c : value) {
    char escaped[8];
    std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(c));
    if (c == '"' || c == '\\') {
      quoted += std::string{'\\', c};
    } else {
      quoted += (c >= 0 && c < 0x20) ? std::string(escaped) : std::string{c};
    }
  }
  return quoted + "\"";
}

inline std::string bound_text(double bound) {
  char text[40];
  std::snprintf(text, sizeof text, "%.15g", bound);
  return text;
}

inline void read(const krl_config* c, krl_str key, bool& out) {
  std::int32_t value = 0;
  if (c->get_bool(c, key, &value)) out = value != 0;
}
inline void read(const krl_config* c, krl_str key, std::int64_t& out) { c->get_int(c, key, &out); }
inline void read(const krl_config* c, krl_str key, double& out) { c->get_float(c, key, &out); }
inline void read(const krl_config* c, krl_str key, std::string& out) {
  krl_str value{};
  if (c->get_string(c, key, &value)) out = view(value);
}

// Runs `f`; nothing is thrown past it.
template <class F>
krl_status guard(const krl_call* context, F&& f) noexcept {
  const auto fail = [&](krl_status code, const char* why) {
    return context->fail(context, code, krl_str{why, std::char_traits<char>::length(why)});
  };
  try {
    f();
    return KRL_OK;
  } catch (const Failure& e) {
    return fail(e.code(), e.what());
  } catch (const std::bad_alloc&) {
    return fail(KRL_RESOURCE_EXHAUSTED, "out of memory");
  } catch (const std::invalid_argument& e) {
    return fail(KRL_INVALID_ARGUMENT, e.what());
  } catch (const std::exception& e) {
    return fail(KRL_INTERNAL, e.what());
  } catch (...) {
    return fail(KRL_INTERNAL, "unknown exception");
  }
}

// The static rows of a component's options, and the texts that they point to.
struct FieldTable {
  std::deque<std::string> texts;
  std::deque<krl_field> rows;
  std::unique_ptr<const krl_field*[]> pointers;

  krl_str keep(std::string text) { return to_c(texts.emplace_back(std::move(text))); }

  // `T` is the owner, or derives from it.
  template <class Owner, class Member, class T>
  void add(const Option<Owner, Member>& o, const T& defaults) {
    std::uint32_t type = type_of(static_cast<const Member*>(nullptr));
    if (o.is_path) type = KRL_PATH;
    std::string range = o.choices;
    if (o.has_low || o.has_high) {
      range = (o.has_low ? bound_text(o.low) : "") + ".." + (o.has_high ? bound_text(o.high) : "");
    }
    const bool required = (o.flags & KRL_REQUIRED) != 0;
    rows.push_back({sizeof(krl_field), type, o.flags, 0, to_c(o.key),
                    required ? krl_str{} : keep(toml_text(defaults.*(o.member))), keep(range),
                    to_c(o.doc)});
  }
  template <class Owner>
  void add(const FreeOption& o, const Owner&) {
    rows.push_back({sizeof(krl_field), o.type, 0, 0, to_c(o.key), {}, {}, to_c(o.doc)});
  }
  void finish() {
    pointers = std::make_unique<const krl_field*[]>(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) pointers[i] = &rows[i];
  }
};

template <class T, class = void>
struct Options {
  static void fill(FieldTable&) {}
  static void bind(T&, const krl_config*) {}
};

template <class T>
struct Options<T, std::void_t<decltype(T::config)>> {
  static void fill(FieldTable& table) {
    const T defaults{};
    std::apply([&](const auto&... o) { (table.add(o, defaults), ...); }, T::config);
  }
  static void bind(T& component, const krl_config* c) {
    std::apply([&](const auto&... o) { (bind_one(component, o, c), ...); }, T::config);
  }

 private:
  template <class Owner, class Member>
  static void bind_one(T& component, const Option<Owner, Member>& o, const krl_config* c) {
    read(c, to_c(o.key), component.*(o.member));
  }
  static void bind_one(T&, const FreeOption&, const krl_config*) {}
};

template <class T, class = void>
struct FlagsOf {
  static constexpr std::uint32_t value = 0;
};
template <class T>
struct FlagsOf<T, std::void_t<decltype(T::flags)>> {
  static constexpr std::uint32_t value = T::flags;
};

// `Base` is Reward, Policy, Backend or Dataset: `self` always points to it.
template <class T, class Base>
krl_status create(const krl_host*, const krl_config* c, const krl_call* context,
                  void** self) noexcept {
  return guard(context, [&] {
    auto component = std::make_unique<T>();
    Options<T>::bind(*component, c);
    component->start(Config(c), Context(context));
    *self = static_cast<Base*>(component.release());
  });
}

template <class Base>
void destroy(void* self) noexcept {
  delete static_cast<Base*>(self);
}

template <class T, class Base>
const krl_component* component(std::uint32_t kind, const void* table, const char* id,
                               const char* summary) {
  static FieldTable fields;
  static const krl_component c = [&] {
    Options<T>::fill(fields);
    fields.finish();
    return krl_component{sizeof(krl_component),
                         kind,
                         FlagsOf<T>::value,
                         static_cast<std::uint32_t>(fields.rows.size()),
                         to_c(id),
                         to_c(summary),
                         fields.pointers.get(),
                         create<T, Base>,
                         destroy<Base>,
                         table};
  }();
  return &c;
}

}  // namespace detail
}  // namespace krl

// Defines the plugin's entry point:
//   KRL_PLUGIN("name", "1.0.0", krl::reward<MyReward>("id", "what it does"), …)
// To set the licence, define KRL_PLUGIN_LICENSE before including the SDK.
#ifndef KRL_PLUGIN_LICENSE
#define KRL_PLUGIN_LICENSE "Apache-2.0"
#endif

#if defined(__clang__)
#define KRL_BUILT_WITH __VERSION__
#else
#define KRL_BUILT_WITH "g++ " __VERSION__
#endif

#define KRL_PLUGIN(NAME, VERSION, ...)                                          \
  extern "C" KRL_EXPORT const krl_plugin* krl_plugin_v1(const krl_host*) {      \
    static const krl_component* const components[] = {__VA_ARGS__};             \
    static const krl_plugin plugin{sizeof(krl_plugin),                          \
                                   KRL_ABI_MINOR,                               \
                                   krl::to_c(NAME),                             \
                                   krl::to_c(VERSION),                          \
                                   krl::to_c(KRL_PLUGIN_LICENSE),               \
                                   krl::to_c(KRL_BUILT_WITH),                   \
                                   components,                                  \
                                   sizeof(components) / sizeof(components[0])}; \
    return &plugin;                                                             \
  }
