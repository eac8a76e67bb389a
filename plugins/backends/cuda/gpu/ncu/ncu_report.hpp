// Parses the values that `ncu --csv` writes into its log. Never fails on any text: anything that is
// not a value is omitted. Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace krl::cuda {

// One launch of a kernel.
struct NcuLaunch {
  std::string kernel;
  // Keyed by ncu's names; metrics that the GPU lacks are absent.
  std::map<std::string, double> metrics;
};

struct NcuReport {
  std::vector<NcuLaunch> launches;  // in the order in which they ran
  std::string errors;               // ncu's own words, without "==ERROR== "; empty: none
};

// `log`: of a profiled program, with one line for each metric of each launch (the page "details"),
// as ncu 2020.1 and later write it: lines of ncu's own, "==PROF== …", then a table with a head.
NcuReport read_ncu_report(std::string_view log);

}  // namespace krl::cuda
