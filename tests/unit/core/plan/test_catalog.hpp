// Components that plans in tests are checked against; like the built-in ones, but they stay the
// same when those change.
#pragma once

#include "core/learn/declared_metrics.hpp"
#include "core/plan/keys.hpp"

namespace krl::core {

inline Catalog test_catalog() {
  using enum ValueType;
  Catalog catalog;
  catalog.metrics = declared_metrics();
  catalog.entries = {
      {Kind::kPolicy,
       "libtorch",
       {{.key = "device", .fallback = "\"cpu\"", .range = "cpu|cuda", .doc = "where it runs"},
        {.key = "model", .type = kPath, .doc = "folder of a model"},
        {.key = "model.layers", .type = kInteger, .fallback = "4", .range = "1..", .doc = "blocks"},
        {.key = "model.dropout",
         .type = kFloat,
         .fallback = "0",
         .range = "0..1",
         .doc = "share"}}},
      {Kind::kPolicy,
       "openai",
       {{.key = "model", .doc = "the model's name", .required = true},
        {.key = "base_urls", .type = kArray, .doc = "several servers"},
        {.key = "api_key_env", .fallback = "\"KEY\"", .doc = "variable"}}},
      {Kind::kBackend,
       "cpu",
       {{.key = "cache", .type = kPath, .fallback = "\"cache\"", .doc = "folder of results"},
        {.key = "flags", .type = kArray, .doc = "for the compiler"},
        {.key = "limits", .type = kTable, .doc = "of a process"}}},
      {Kind::kDataset,
       "tasks",
       {{.key = "path", .type = kPath, .doc = "folder of tasks", .required = true}}},
      {Kind::kDataset,
       "templates",
       {{.key = "count", .type = kInteger, .fallback = "1000", .range = "1..", .doc = "examples"}}},
      {Kind::kReward,
       "correctness",
       {{.key = "partial", .type = kBool, .fallback = "false", .doc = "credit for each case"}}},
      {Kind::kReward,
       "speedup",
       {{.key = "cap", .type = kFloat, .fallback = "3", .range = "1..", .doc = "the most paid"},
        {.key = "floor", .type = kFloat, .fallback = "0", .range = "..1", .doc = "the least"}}},
  };
  return catalog;
}

}  // namespace krl::core
