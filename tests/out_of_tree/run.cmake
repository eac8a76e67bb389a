# A stranger's reward changes a run through nothing but its [[reward]] table: the same plan runs twice, once with the table
# added, both with the plugin on the path.
#   cmake -D KERNELRL=bin/kernelrl -D PLUGINS=folder -D TOY=folder -D PLAN=plan.toml -D WORK=folder -P run.cmake
file(REMOVE_RECURSE ${WORK})

# Runs PLAN with `tables` added and sets `metrics` to its lines of metrics.jsonl.
function(run name tables metrics)
  file(READ ${PLAN} plan)
  file(WRITE ${WORK}/${name}/plan.toml "${plan}${tables}")
  execute_process(COMMAND ${KERNELRL} --plan plan.toml --plugin-path ${PLUGINS} --plugin-path ${TOY}
    WORKING_DIRECTORY ${WORK}/${name} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "the run '${name}' ended with ${result}:\n${output}")
  endif()
  file(STRINGS ${WORK}/${name}/runs/out_of_tree/metrics.jsonl lines)
  list(LENGTH lines iterations)
  if(NOT iterations EQUAL 3)
    message(FATAL_ERROR "the run '${name}' wrote ${iterations} lines of metrics, not 3:\n${output}")
  endif()
  set(${metrics} "${lines}" PARENT_SCOPE)
endfunction()

# Every value of `key`, joined.
function(values key lines out)
  set(found "")
  foreach(line ${lines})
    string(JSON value ERROR_VARIABLE missing GET "${line}" "${key}")
    string(APPEND found "${value} ")
  endforeach()
  set(${out} "${found}" PARENT_SCOPE)
endfunction()

run(plain "" plain)
run(again "" again)
run(paid "
[[reward]]
use    = \"example.short_source\"
when   = \"passed\"
weight = 2.0
limit  = 100.0
" paid)

values(reward/mean "${plain}" plain_reward)
values(reward/mean "${again}" again_reward)
values(reward/mean "${paid}" paid_reward)
values(reward/example.short_source/mean "${plain}" plain_term)
values(reward/example.short_source/mean "${paid}" paid_term)
if(NOT plain_reward STREQUAL again_reward)
  message(FATAL_ERROR "the same plan gave other rewards: ${plain_reward}/ ${again_reward}")
endif()
if(plain_reward STREQUAL paid_reward)
  message(FATAL_ERROR "the table changed nothing: ${paid_reward}")
endif()
if(NOT plain_term MATCHES "NOTFOUND")
  message(FATAL_ERROR "a term without a table was scored: ${plain_term}")
endif()
if(paid_term MATCHES "NOTFOUND" OR NOT paid_term MATCHES "0\\.[0-9]")
  message(FATAL_ERROR "the term was not scored: ${paid_term}")
endif()
