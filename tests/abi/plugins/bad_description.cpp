// A plugin whose description is good, but for what the fault does to it that its file is named
// after: FAULT.krl.so.
#include <dlfcn.h>
#include <kernelrl/abi.h>

#include <cstring>
#include <kernelrl/values.hpp>
#include <string_view>

namespace {

using krl::to_c;

krl_status create(const krl_host*, const krl_config*, const krl_call*, void**) {
  return KRL_UNIMPLEMENTED;
}
void destroy(void*) {}
krl_status score(void*, const krl_call*, const krl_turn* const*, std::size_t, double*) {
  return KRL_UNIMPLEMENTED;
}
krl_status describe(void*, const krl_call*, const krl_backend_info_sink*) {
  return KRL_UNIMPLEMENTED;
}
krl_status prepare(void*, const krl_call*, const krl_task*, const krl_evaluate_options*) {
  return KRL_UNIMPLEMENTED;
}
krl_status evaluate(void*, const krl_call*, const krl_candidate*, const krl_evaluate_options*,
                    const krl_evaluation_sink*) {
  return KRL_UNIMPLEMENTED;
}

krl_reward_v table{sizeof(krl_reward_v), 0, score};
krl_backend_v backend{sizeof(krl_backend_v), KRL_BACKEND, describe, prepare, evaluate};
krl_policy_v policy{};
krl_field field{sizeof(krl_field), KRL_FLOAT, 0, 0, to_c("limit"), to_c("1.0"), to_c("0..1"), {}};
krl_field second{sizeof(krl_field), KRL_FLOAT, 0, 0, to_c("other"), {}, {}, {}};
const krl_field* fields[] = {&field, &second};
krl_component component{sizeof(krl_component),      KRL_REWARD, 0,      2,       to_c("test.bad"),
                        to_c("is described badly"), fields,     create, destroy, &table};
const krl_component* components[] = {&component, nullptr};
krl_plugin plugin{sizeof(krl_plugin), KRL_ABI_MINOR,  to_c("bad"), to_c("1.0.0"),
                  to_c("Apache-2.0"), to_c("a test"), components,  1};
const krl_plugin* description = &plugin;

constexpr char kLong[200] = {};

krl_str id(std::string_view text) { return component.id = to_c(text); }
void option(std::uint32_t type, std::string_view fallback, std::string_view range) {
  field.type = type, field.fallback = to_c(fallback), field.range = to_c(range);
}

struct Fault {
  std::string_view name;
  void (*apply)();
};

constexpr Fault kFaults[] = {
    {"null_plugin", [] { description = nullptr; }},
    {"plugin_size", [] { plugin.struct_size = 4; }},
    {"no_components", [] { plugin.n_components = 0; }},
    {"null_components", [] { plugin.components = nullptr; }},
    {"many_components", [] { plugin.n_components = 1'000'000; }},
    {"null_name",
     [] {
       plugin.name = {nullptr, 5};
     }},
    {"null_component", [] { components[0] = nullptr; }},
    {"component_size", [] { component.struct_size = 8; }},
    {"large_component", [] { component.struct_size = 4096; }},
    {"unknown_kind", [] { component.kind = 77; }},
    {"component_flag", [] { component.flags = 1U << 31; }},
    {"twice_in_one", [] { components[plugin.n_components++] = &component; }},

    {"null_create", [] { component.create = nullptr; }},
    {"null_destroy", [] { component.destroy = nullptr; }},
    {"null_table", [] { component.table = nullptr; }},
    {"null_score", [] { table.score = nullptr; }},
    {"table_size_0", [] { table.struct_size = 0; }},
    {"table_size_8", [] { table.struct_size = 8; }},
    {"large_table", [] { table.struct_size = 4096; }},
    {"unknown_need", [] { table.needs = 1U << 20; }},
    {"policy_on_reward", [] { component.kind = KRL_POLICY; }},
    {"dataset_on_reward", [] { component.kind = KRL_DATASET; }},
    {"reward_on_backend", [] { component.table = &backend; }},
    {"policy_on_backend", [] { component.kind = KRL_POLICY, component.table = &backend; }},
    {"dataset_on_backend", [] { component.kind = KRL_DATASET, component.table = &backend; }},
    {"policy_kind",
     [] {
       component.kind = KRL_POLICY, component.table = &policy;
       policy.struct_size = sizeof policy, policy.kind = KRL_REWARD;
     }},

    {"no_id", [] { component.id = {}; }},
    {"id_null",
     [] {
       component.id = {nullptr, 5};
     }},
    {"id_long",
     [] {
       component.id = {kLong, sizeof kLong};
     }},
    {"id_huge", [] { component.id.size = 300'000'000; }},
    {"id_alone", [] { id("bad"); }},
    {"id_of_built_in", [] { id("speedup"); }},
    {"id_blank", [] { id("bad one"); }},
    {"id_path", [] { id("../x"); }},
    {"id_slash", [] { id("bad.one/../x"); }},
    {"id_control", [] { id("bad.\x1b[31m"); }},
    {"id_not_utf8", [] { id("bad.\xff"); }},
    {"id_empty_word", [] { id("bad..one"); }},
    {"id_empty_end", [] { id("bad."); }},
    {"id_capital", [] { id("Bad.one"); }},
    {"id_digit", [] { id("1.one"); }},

    {"null_fields", [] { component.fields = nullptr; }},
    {"many_fields", [] { component.n_fields = 1'000'000; }},
    {"null_field", [] { fields[0] = nullptr; }},
    {"field_size", [] { field.struct_size = 0; }},
    {"field_without_key", [] { field.key = {}; }},
    {"field_type", [] { field.type = 42; }},
    {"field_flag", [] { field.flags = 64; }},
    {"field_reserved", [] { field.reserved = 1; }},
    {"null_default",
     [] {
       field.fallback = {nullptr, 5};
     }},
    {"null_summary",
     [] {
       component.summary = {nullptr, 5};
     }},
    {"huge_summary", [] { component.summary.size = 300'000'000; }},

    {"default_outside", [] { option(KRL_FLOAT, "5", "0..1"); }},
    {"default_no_choice", [] { option(KRL_STRING, "\"c\"", "a|b"); }},
    {"default_of_another_type", [] { option(KRL_FLOAT, "\"word\"", ""); }},
    {"default_no_toml", [] { option(KRL_STRING, "banana", ""); }},
    {"default_two_lines", [] { option(KRL_STRING, "\"a\nb\"", ""); }},
    {"default_of_required", [] { field.flags = KRL_REQUIRED; }},
    {"range_word", [] { option(KRL_FLOAT, "1.0", "banana"); }},
    {"range_rest", [] { option(KRL_FLOAT, "1.0", "0..1x"); }},
    {"range_turned", [] { option(KRL_INT, "1", "2..0"); }},
    {"range_of_string", [] { option(KRL_STRING, "\"a\"", "0..1"); }},
    {"range_of_bool", [] { option(KRL_BOOL, "true", "true|false"); }},
    {"key_twice", [] { second.key = field.key; }},
    {"key_of_all", [] { field.key = to_c("use"); }},
    {"key_of_rewards", [] { field.key = to_c("weight.high"); }},
    {"key_blank", [] { field.key = to_c("my key"); }},
    {"key_empty_word", [] { field.key = to_c("a..b"); }},
    {"key_long",
     [] {
       field.key = {kLong, sizeof kLong};
     }},

    {"newer_kind", [] { plugin.abi_minor = 99, component.kind = 77; }},
    {"newer_flag", [] { plugin.abi_minor = 99, component.flags = 1U << 31; }},

    // These are fine.
    {"newer_beside",
     [] {
       static krl_component later = component;
       later.kind = 77;
       plugin.abi_minor = 99, plugin.n_components = 2, components[1] = &later;
     }},
    {"newer_hint", [] { plugin.abi_minor = 99, component.flags = field.flags = 1U << 20; }},
    {"newer_minor", [] { plugin.abi_minor = 99; }},
    {"newer_component", [] { plugin.abi_minor = 99, component.struct_size = 4096; }},
    {"prose",
     [] { component.summary = to_c("two\nlines, \x1b[31mred\x1b[0m, \xc2\x9b, \xff, \xc3\xa4"); }},
};

// The fault that this file is named after.
std::string_view fault() {
  Dl_info here{};
  dladdr(reinterpret_cast<const void*>(&create), &here);
  const std::string_view path = here.dli_fname;
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name.substr(0, name.find('.'));
}

}  // namespace

extern "C" KRL_EXPORT const krl_plugin* krl_plugin_v1(const krl_host*) {
  const std::string_view wanted = fault();
  for (const Fault& f : kFaults) {
    if (f.name == wanted) f.apply();
  }
  return description;
}
