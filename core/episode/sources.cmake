target_sources(kernelrl_core PRIVATE
  ${CMAKE_CURRENT_LIST_DIR}/continuous_sampler.cpp
  ${CMAKE_CURRENT_LIST_DIR}/evaluations.cpp
  ${CMAKE_CURRENT_LIST_DIR}/feedback.cpp
  ${CMAKE_CURRENT_LIST_DIR}/judge.cpp
  ${CMAKE_CURRENT_LIST_DIR}/prompt.cpp
  ${CMAKE_CURRENT_LIST_DIR}/rollout.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sampler.cpp
  ${CMAKE_CURRENT_LIST_DIR}/score.cpp
  ${CMAKE_CURRENT_LIST_DIR}/wave_sampler.cpp)
