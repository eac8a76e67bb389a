target_sources(kernelrl_core PRIVATE
  ${CMAKE_CURRENT_LIST_DIR}/admission.cpp
  ${CMAKE_CURRENT_LIST_DIR}/assessment.cpp
  ${CMAKE_CURRENT_LIST_DIR}/curriculum.cpp
  ${CMAKE_CURRENT_LIST_DIR}/examination.cpp
  ${CMAKE_CURRENT_LIST_DIR}/goal.cpp
  ${CMAKE_CURRENT_LIST_DIR}/journal.cpp
  ${CMAKE_CURRENT_LIST_DIR}/optimizer_step.cpp
  ${CMAKE_CURRENT_LIST_DIR}/policies.cpp
  ${CMAKE_CURRENT_LIST_DIR}/reinforce.cpp
  ${CMAKE_CURRENT_LIST_DIR}/returns.cpp
  ${CMAKE_CURRENT_LIST_DIR}/rollout_metrics.cpp
  ${CMAKE_CURRENT_LIST_DIR}/samples.cpp
  ${CMAKE_CURRENT_LIST_DIR}/setup.cpp
  ${CMAKE_CURRENT_LIST_DIR}/supervised.cpp
  ${CMAKE_CURRENT_LIST_DIR}/trainer.cpp)
