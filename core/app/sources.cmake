# The program alone; the calls are no part of the library, which tests link.
add_executable(kernelrl
  ${CMAKE_CURRENT_LIST_DIR}/assessment_report.cpp
  ${CMAKE_CURRENT_LIST_DIR}/call_chat.cpp
  ${CMAKE_CURRENT_LIST_DIR}/call_check.cpp
  ${CMAKE_CURRENT_LIST_DIR}/call_doctor.cpp
  ${CMAKE_CURRENT_LIST_DIR}/call_eval.cpp
  ${CMAKE_CURRENT_LIST_DIR}/call_export.cpp
  ${CMAKE_CURRENT_LIST_DIR}/call_launch.cpp
  ${CMAKE_CURRENT_LIST_DIR}/call_line.cpp
  ${CMAKE_CURRENT_LIST_DIR}/call_plugins.cpp
  ${CMAKE_CURRENT_LIST_DIR}/call_run.cpp
  ${CMAKE_CURRENT_LIST_DIR}/call_runs.cpp
  ${CMAKE_CURRENT_LIST_DIR}/chat.cpp
  ${CMAKE_CURRENT_LIST_DIR}/console.cpp
  ${CMAKE_CURRENT_LIST_DIR}/eval_kernel.cpp
  ${CMAKE_CURRENT_LIST_DIR}/eval_policy.cpp
  ${CMAKE_CURRENT_LIST_DIR}/exit_code.cpp
  ${CMAKE_CURRENT_LIST_DIR}/follower_call.cpp
  ${CMAKE_CURRENT_LIST_DIR}/machine.cpp
  ${CMAKE_CURRENT_LIST_DIR}/main.cpp
  ${CMAKE_CURRENT_LIST_DIR}/plan_call.cpp
  ${CMAKE_CURRENT_LIST_DIR}/plugin_output.cpp
  ${CMAKE_CURRENT_LIST_DIR}/policy_call.cpp
  ${CMAKE_CURRENT_LIST_DIR}/policy_probe.cpp
  ${CMAKE_CURRENT_LIST_DIR}/rank_processes.cpp
  ${CMAKE_CURRENT_LIST_DIR}/stop_signals.cpp
  ${CMAKE_CURRENT_LIST_DIR}/task_list.cpp
  ${CMAKE_CURRENT_LIST_DIR}/trial.cpp)
target_link_libraries(kernelrl PRIVATE kernelrl_core kernelrl::warnings Boost::program_options)
install(TARGETS kernelrl DESTINATION ${CMAKE_INSTALL_BINDIR})
