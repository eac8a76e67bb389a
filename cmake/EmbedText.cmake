# kernelrl_embed_text(<target> <variable> <file>…): the text of the files, one after the other, as a constant for C++:
# `#include "<variable>.hpp"` declares `krl::<variable>`, a char array. A change of a file configures anew.
function(kernelrl_embed_text target variable)
  set(text "")
  foreach(file IN LISTS ARGN)
    file(READ ${file} part)
    string(APPEND text "${part}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  endforeach()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/embedded)
  file(CONFIGURE OUTPUT ${folder}/${variable}.hpp @ONLY CONTENT [=[
// Made from @ARGN@.
#pragma once
namespace krl {
inline constexpr char @variable@[] = R"__(@text@)__";
}  // namespace krl
]=])
  target_include_directories(${target} PRIVATE ${folder})
endfunction()

# kernelrl_embed_files(<target> <variable> <file>…): the same, each file by its name, with which a text begins that ends with
# a line break: `krl::<variable>` is an array of them.
function(kernelrl_embed_files target variable)
  set(texts "")
  foreach(file IN LISTS ARGN)
    file(READ ${file} part)
    get_filename_component(name ${file} NAME)
    string(APPEND texts "    R\"__(${name}\n${part})__\",\n")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  endforeach()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/embedded)
  file(CONFIGURE OUTPUT ${folder}/${variable}.hpp @ONLY CONTENT [=[
// Made from files.
#pragma once
namespace krl {
inline constexpr const char* @variable@[] = {
@texts@};
}  // namespace krl
]=])
  target_include_directories(${target} PRIVATE ${folder})
endfunction()
