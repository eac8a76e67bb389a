# Installs the SDK alone and builds a project against it.
#   cmake -D BUILD=build-tree -D EXAMPLES=sdk/docs/examples -D WORK=folder -D COMPILER=c++ -D GENERATOR=Ninja -P build.cmake
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${ARGN}:\n${output}")
  endif()
endfunction()

# The sources are copied, so that nothing of the repository is near them.
file(COPY ${EXAMPLES}/ DESTINATION ${WORK}/project)
run(${CMAKE_COMMAND} --install ${BUILD}/sdk --prefix ${WORK}/prefix)
run(${CMAKE_COMMAND} -S ${WORK}/project -B ${WORK}/build -G ${GENERATOR} -D CMAKE_CXX_COMPILER=${COMPILER}
  -D CMAKE_PREFIX_PATH=${WORK}/prefix -D "CMAKE_CXX_FLAGS=-Wall -Wextra -Wpedantic -Werror")
run(${CMAKE_COMMAND} --build ${WORK}/build)

file(READ ${WORK}/project/short_source.cpp text)
string(REGEX MATCHALL "\n" ends "${text}")
list(LENGTH ends lines)
if(NOT lines EQUAL 13)
  message(FATAL_ERROR "the smallest reward plugin has ${lines} lines, not 13")
endif()
