# The sanitizers of KERNELRL_SANITIZE check everything but the workers. Those live under limits that no sanitizer survives:
# little address space and few system calls. So a worker is built without, and so is a second copy of the libraries it
# links; the first copy, with sanitizers, is what plugins and tests link.
#
# The tests of preset `dev` run with intercept_tls_get_addr=0: libasan of g++ 12 takes a library's thread-local memory that
# lies 16 bytes into a page for that of glibc 2.18 and older, reads its own heap's bookkeeping as an address, and dies of it
# while it looks for leaks. What is thread-local is still found, by way of glibc's table of it.
define_property(TARGET PROPERTY KERNELRL_UNSANITIZED
  BRIEF_DOCS "Built without the sanitizers of KERNELRL_SANITIZE" FULL_DOCS "Set on workers and the libraries they link")

if(KERNELRL_SANITIZE)
  set(_flags -fsanitize=${KERNELRL_SANITIZE} -fno-omit-frame-pointer)
  if(KERNELRL_SANITIZE MATCHES "undefined")
    list(APPEND _flags -fno-sanitize-recover=undefined)
  endif()
  if(KERNELRL_SANITIZE STREQUAL "thread")
    # ThreadSanitizer cannot follow a fence (g++ refuses it); the locks of asio's queues order the same things.
    add_compile_definitions(BOOST_ASIO_DISABLE_FENCED_BLOCK)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")  # which does not define what g++ does
    if(KERNELRL_SANITIZE MATCHES "address")
      list(APPEND _flags -D__SANITIZE_ADDRESS__)
    elseif(KERNELRL_SANITIZE STREQUAL "thread")
      list(APPEND _flags -D__SANITIZE_THREAD__)
    endif()
  endif()
  set(_sanitized "$<NOT:$<BOOL:$<TARGET_PROPERTY:KERNELRL_UNSANITIZED>>>")
  add_compile_options("$<${_sanitized}:${_flags}>")
  add_link_options("$<${_sanitized}:-fsanitize=${KERNELRL_SANITIZE}>")
endif()

# The library itself, or in a sanitizer build its copy without: NAME_unsanitized, made when first asked for.
function(kernelrl_unsanitized_library library result)
  set(copy ${library}_unsanitized)
  set(type "")
  if(TARGET ${library})
    get_target_property(type ${library} TYPE)
  endif()
  if(NOT KERNELRL_SANITIZE OR NOT type STREQUAL "STATIC_LIBRARY")
    set(${result} ${library} PARENT_SCOPE)
    return()
  endif()
  if(NOT TARGET ${copy})
    get_target_property(folder ${library} SOURCE_DIR)
    get_target_property(sources ${library} SOURCES)
    list(TRANSFORM sources PREPEND ${folder}/ REGEX "^[^/]")
    add_library(${copy} STATIC EXCLUDE_FROM_ALL ${sources})
    set_target_properties(${copy} PROPERTIES KERNELRL_UNSANITIZED ON)
    foreach(property COMPILE_DEFINITIONS COMPILE_OPTIONS INCLUDE_DIRECTORIES INTERFACE_INCLUDE_DIRECTORIES
        INTERFACE_SYSTEM_INCLUDE_DIRECTORIES UNITY_BUILD)
      get_target_property(value ${library} ${property})
      if(NOT value MATCHES "NOTFOUND$")
        set_target_properties(${copy} PROPERTIES ${property} "${value}")
      endif()
    endforeach()
    get_target_property(links ${library} LINK_LIBRARIES)
    foreach(link ${links})
      kernelrl_unsanitized_library(${link} link)
      target_link_libraries(${copy} PUBLIC ${link})
    endforeach()
  endif()
  set(${result} ${copy} PARENT_SCOPE)
endfunction()
