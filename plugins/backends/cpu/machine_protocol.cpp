// The JSON of the runner protocol: one key per field, enumerations by name, floats by their bits
// (they may be infinite).
#include <bit>
#include <nlohmann/json.hpp>

#include "plugins/backends/cpu/machine_protocol.hpp"

namespace krl::cpu {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 13> kFaultNames = {"illegal_address",
                                                          "misaligned",
                                                          "divergent_barrier",
                                                          "data_race",
                                                          "uninitialised_shared",
                                                          "uninitialised_global",
                                                          "uninitialised_local",
                                                          "trap",
                                                          "work_limit",
                                                          "deadlock",
                                                          "stack_overflow",
                                                          "unsupported",
                                                          "signal"};
constexpr std::array<std::string_view, 5> kOrderNames = {"forward", "reversed", "shuffled",
                                                         "lockstep", "drawn"};
constexpr std::array<std::string_view, 4> kRoleNames = {"input", "output", "in_out", "scratch"};

template <std::size_t N, class Enum>
void enum_to_json(json& j, const std::array<std::string_view, N>& names, Enum value) {
  j = std::string(names.at(static_cast<std::size_t>(value)));
}

template <std::size_t N, class Enum>
void enum_from_json(const json& j, const std::array<std::string_view, N>& names, Enum& value) {
  const auto& name = j.get_ref<const std::string&>();
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == name) {
      value = static_cast<Enum>(i);
      return;
    }
  }
  throw json::other_error::create(501, "unknown name \"" + name + "\"", nullptr);
}

}  // namespace

std::string_view name_of(FaultKind kind) { return kFaultNames.at(static_cast<std::size_t>(kind)); }

static void to_json(json& j, FaultKind v) { enum_to_json(j, kFaultNames, v); }
static void from_json(const json& j, FaultKind& v) { enum_from_json(j, kFaultNames, v); }
static void to_json(json& j, Order v) { enum_to_json(j, kOrderNames, v); }
static void from_json(const json& j, Order& v) { enum_from_json(j, kOrderNames, v); }
static void to_json(json& j, Role v) { enum_to_json(j, kRoleNames, v); }
static void from_json(const json& j, Role& v) { enum_from_json(j, kRoleNames, v); }

static void to_json(json& j, const Argument& argument) {
  if (const auto* buffer = std::get_if<BufferArgument>(&argument)) {
    j = {{"buffer", buffer->buffer}};
  } else if (const auto* map = std::get_if<TensorMapArgument>(&argument)) {
    j = {{"tensor_map", {map->buffer, map->element_bytes, map->swizzle, map->sizes, map->box}}};
  } else if (const auto* i32 = std::get_if<std::int32_t>(&argument)) {
    j = {{"int32", *i32}};
  } else if (const auto* i64 = std::get_if<std::int64_t>(&argument)) {
    j = {{"int64", *i64}};
  } else if (const auto* f32 = std::get_if<float>(&argument)) {
    j = {{"float32_bits", std::bit_cast<std::uint32_t>(*f32)}};
  } else {
    j = {{"float64_bits", std::bit_cast<std::uint64_t>(std::get<double>(argument))}};
  }
}

static void from_json(const json& j, Argument& argument) {
  if (j.contains("buffer")) {
    argument = BufferArgument{j.at("buffer").get<std::uint32_t>()};
  } else if (j.contains("tensor_map")) {
    const json& map = j.at("tensor_map");
    argument = TensorMapArgument{map.at(0), map.at(1), map.at(2), map.at(3), map.at(4)};
  } else if (j.contains("int32")) {
    argument = j.at("int32").get<std::int32_t>();
  } else if (j.contains("int64")) {
    argument = j.at("int64").get<std::int64_t>();
  } else if (j.contains("float32_bits")) {
    argument = std::bit_cast<float>(j.at("float32_bits").get<std::uint32_t>());
  } else {
    argument = std::bit_cast<double>(j.at("float64_bits").get<std::uint64_t>());
  }
}

// Both directions of a plain struct from the list of its fields (nlohmann's own macros make them
// inline, and these of the public types are not).
#define KRL_JSON(linkage, Type, ...)                                                         \
  linkage void to_json(json& nlohmann_json_j, const Type& nlohmann_json_t){                  \
      NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(NLOHMANN_JSON_TO, __VA_ARGS__))} linkage void \
  from_json(const json& nlohmann_json_j, Type& nlohmann_json_t) {                            \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(NLOHMANN_JSON_FROM, __VA_ARGS__))               \
  }

}  // namespace krl::cpu

// nlohmann/json finds the functions of a std::variant only through its serializer.
template <>
struct nlohmann::adl_serializer<krl::cpu::Argument> {
  static void to_json(json& j, const krl::cpu::Argument& value) { krl::cpu::to_json(j, value); }
  static void from_json(const json& j, krl::cpu::Argument& value) { krl::cpu::from_json(j, value); }
};

namespace krl::cpu {

KRL_JSON(static, Buffer, name, offset, bytes, element_size, writable, role)
KRL_JSON(static, Launch, kernel, grid, block, dynamic_shared_bytes, arguments, resident_blocks)
KRL_JSON(static, Run, buffers, launches, count, order, held_line, redundant_threads, garbage)
KRL_JSON(, Job, kernels, work_limit, seed, max_shared_bytes, path_clocks, runs)

KRL_JSON(static, CriticalPath, instructions, clocks, dram_requests, l2_requests, l1_requests,
         shared_requests, warp_operations, barriers, atomics, loop_turns, waits,
         ordered_dram_requests, ordered_l2_requests, ordered_l1_requests)
KRL_JSON(, Counters, blocks, warps, threads, instructions, thread_instructions,
         global_load_requests, global_load_sectors, global_store_requests, global_store_sectors,
         needed_sectors, vector8_requests, vector16_requests, dram_load_sectors, dram_store_sectors,
         l1_sectors, l2_sectors, constant_repeats, shared_load_requests, shared_store_requests,
         shared_wavefronts, bank_conflicts, global_atomics, shared_atomics, shared_atomic_repeats,
         shared_atomic_loops, atomic_passes, hottest_atomic, barriers, shuffles, votes,
         warp_barriers, local_requests, local_sectors, code_instructions, typical_runs, classes,
         tensor_products, span_clocks, critical)
KRL_JSON(static, LaunchReport, counters, grid, block, kernel, shared_bytes)
KRL_JSON(static, KernelFacts, name, shared_bytes, max_threads_per_block)
KRL_JSON(static, Fault, kind, message, line, run, launch, kernel, block, thread)
KRL_JSON(static, Encounter, run, line, place)
KRL_JSON(static, Unwritten, run, buffer, first, count)
KRL_JSON(static, Unset, run, line, what)
KRL_JSON(static, LaunchError, run, launch, argument, message)

void to_json(json& j, const Result& result) {
  j = {{"kernels", result.kernels},     {"runs", result.runs},   {"encounters", result.encounters},
       {"unwritten", result.unwritten}, {"unset", result.unset}, {"work", result.work},
       {"printed", result.printed}};
  if (result.launch_error) j["launch_error"] = *result.launch_error;
  if (result.fault) j["fault"] = *result.fault;
}

void from_json(const json& j, Result& result) {
  result = {};
  j.at("kernels").get_to(result.kernels);
  j.at("runs").get_to(result.runs);
  j.at("encounters").get_to(result.encounters);
  j.at("unwritten").get_to(result.unwritten);
  j.at("unset").get_to(result.unset);
  j.at("work").get_to(result.work);
  j.at("printed").get_to(result.printed);
  if (j.contains("launch_error")) result.launch_error = j.at("launch_error").get<LaunchError>();
  if (j.contains("fault")) result.fault = j.at("fault").get<Fault>();
}

}  // namespace krl::cpu
