# Writes GROWN, abi.h as a later minor version could have it: every struct that may grow is longer.
file(READ ${ABI} text)
string(REGEX REPLACE "\n} (krl_[a-z0-9_]+);" "\n  uint64_t later[2];\n} \\1;" text "${text}")
foreach(value krl_str krl_i32s krl_f32s krl_f64s)
  string(REPLACE "\n  uint64_t later[2];\n} ${value};" "\n} ${value};" text "${text}")
endforeach()
string(REPLACE "KRL_ABI_MINOR 0u" "KRL_ABI_MINOR 1u" text "${text}")
file(WRITE ${GROWN} "${text}")
