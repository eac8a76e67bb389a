// A plugin whose description is good, but for the defect that its file is named after: a copy of it
// called `no_plugin.krl.so` has the defect "no plugin". Under any other name it is whole.
#include <dlfcn.h>
#include <kernelrl/abi.h>
#include <unistd.h>
#include <kernelrl/values.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

krl_status create(const krl_host*, const krl_config*, const krl_call*, void** self) {
  static int instance;
  *self = &instance;
  return KRL_OK;
}
void destroy(void*) {}
krl_status score(void*, const krl_call*, const krl_turn* const*, std::size_t n, double* out) {
  std::fill(out, out + n, 0.5);
  return KRL_OK;
}

krl_reward_v table{sizeof(krl_reward_v), 0, score};
krl_backend_v backend_table{};  // of the right size, without functions
krl_field field{sizeof(krl_field), KRL_FLOAT, 0, 0, krl::to_c("limit"), krl::to_c("1.0"), {}, {}};
krl_field second = field;
std::array<const krl_field*, 2> fields{&field, &second};
krl_component component{
    sizeof(krl_component),           KRL_REWARD,    0,      1,       krl::to_c("broken.at_load"),
    krl::to_c("is described badly"), fields.data(), create, destroy, &table};
std::array<const krl_component*, 2> components{&component, &component};
krl_plugin plugin{
    sizeof(krl_plugin),      KRL_ABI_MINOR,       krl::to_c("broken_at_load"), krl::to_c("1.0.0"),
    krl::to_c("Apache-2.0"), krl::to_c("a test"), components.data(),           1};
const krl_plugin* description = &plugin;

void segfault() {
  volatile int* volatile nowhere = nullptr;  // the compiler may not know
  *nowhere = 1;
}

[[noreturn]] void hang() {
  while (true) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void option(const char* key, std::uint32_t type, const char* fallback, const char* range) {
  field.key = krl::to_c(key);
  field.type = type;
  field.fallback = krl::to_c(fallback);
  field.range = krl::to_c(range);
}

void summary(std::string text) {
  static std::string kept;
  kept = std::move(text);
  component.summary = krl::to_c(kept);
}

void id(const char* text) { component.id = krl::to_c(text); }

void start_a_thread() { std::thread(hang).detach(); }

using Defect = void (*)();

const std::map<std::string, Defect> kAtStart = {
    {"constructor_segfault", segfault},
    {"constructor_abort", std::abort},
    {"constructor_exit", [] { std::exit(0); }},
    {"constructor_hang", hang},
};

const std::map<std::string, Defect> kInEntry = {
    {"entry_segfault", segfault},
    {"entry_abort", std::abort},
    {"entry_exit", [] { std::exit(0); }},
    {"entry_quick_exit", [] { ::_exit(0); }},
    {"entry_hang", hang},
    {"entry_throw", [] { throw std::runtime_error("boom"); }},
    {"entry_fork", [] { static_cast<void>(::fork()); }},
    {"entry_prints", [] { static_cast<void>(::write(1, "a stranger's line\n", 18)); }},
    {"entry_threads", start_a_thread},
    {"no_plugin", [] { description = nullptr; }},
    {"plugin_size_0", [] { plugin.struct_size = 0; }},
    {"newer_minor", [] { plugin.abi_minor = 99; }},
    {"no_components", [] { plugin.n_components = 0; }},
    {"null_components", [] { plugin.components = nullptr; }},
    {"million_components", [] { plugin.n_components = 1'000'000; }},
    {"huge_components", [] { plugin.n_components = SIZE_MAX; }},
    {"null_component", [] { components[0] = nullptr; }},
    {"twice_in_one", [] { plugin.n_components = 2; }},
    {"component_size_0", [] { component.struct_size = 0; }},
    {"unknown_kind", [] { component.kind = 77; }},
    {"kind_of_policy", [] { component.kind = KRL_POLICY; }},
    {"kind_of_backend", [] { component.kind = KRL_BACKEND; }},
    {"kind_of_dataset", [] { component.kind = KRL_DATASET; }},
    {"backend_as_reward", [] { component.table = &backend_table; }},
    {"null_table", [] { component.table = nullptr; }},
    {"null_score", [] { table.score = nullptr; }},
    {"null_create", [] { component.create = nullptr; }},
    {"null_destroy", [] { component.destroy = nullptr; }},
    {"table_size_0", [] { table.struct_size = 0; }},
    {"table_size_8", [] { table.struct_size = 8; }},
    {"no_id", [] { component.id = {}; }},
    {"null_id",
     [] {
       component.id = {nullptr, 5};
     }},
    {"builtin_id", [] { id("speedup"); }},
    {"id_without_vendor", [] { id("myreward"); }},
    {"wild_id", [] { id("Bad One/../x"); }},
    {"null_fields", [] { component.fields = nullptr; }},
    {"null_field", [] { fields[0] = nullptr; }},
    {"million_fields", [] { component.n_fields = 1'000'000; }},
    {"field_size_0", [] { field.struct_size = 0; }},
    {"key_twice", [] { component.n_fields = 2; }},
    {"no_key", [] { option("", KRL_FLOAT, "1.0", ""); }},
    {"key_weight", [] { option("weight", KRL_FLOAT, "1.0", ""); }},
    {"key_use", [] { option("use", KRL_FLOAT, "1.0", ""); }},
    {"key_when", [] { option("when", KRL_FLOAT, "1.0", ""); }},
    {"key_with_blank", [] { option("my key", KRL_FLOAT, "1.0", ""); }},
    {"default_out_of_range", [] { option("limit", KRL_FLOAT, "5.0", "0..1"); }},
    {"default_no_choice", [] { option("limit", KRL_STRING, "\"c\"", "a|b"); }},
    {"default_of_another_type", [] { option("limit", KRL_FLOAT, "\"text\"", ""); }},
    {"default_no_toml", [] { option("limit", KRL_FLOAT, "= [", ""); }},
    {"range_banana", [] { option("limit", KRL_FLOAT, "1.0", "banana"); }},
    {"type_42", [] { option("limit", 42, "1.0", ""); }},
    {"long_summary", [] { summary(std::string(32U << 20U, 's')); }},
    {"summary_with_escapes", [] { summary("red \x1b[31m and \x1b]0;title\x07"); }},
    {"summary_of_two_lines", [] { summary("one\ntwo"); }},
    {"summary_not_utf8", [] { summary("bytes \xff\xfe"); }},
    {"null_summary",
     [] {
       component.summary = {nullptr, 5};
     }},
};

// The file's name up to its first dot.
std::string name_of_file() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&name_of_file), &info) == 0) return "";
  const std::string path = info.dli_fname;
  const std::string name = path.substr(path.rfind('/') + 1);
  return name.substr(0, name.find('.'));
}

void apply(const std::map<std::string, Defect>& defects) {
  if (const auto found = defects.find(name_of_file()); found != defects.end()) found->second();
}

[[maybe_unused]] const bool started = (apply(kAtStart), true);

}  // namespace

extern "C" KRL_EXPORT const krl_plugin* krl_plugin_v1(const krl_host*) {
  apply(kInEntry);
  return description;
}
