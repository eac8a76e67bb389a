# cmake -DSOURCE=… -DOUT=… -P Commit.cmake: writes the header OUT with the commit of the sources, " (3f2a91c4)", or with an
# empty text if they come without git. A header that is right stays as it is, so that nothing is compiled again.
cmake_minimum_required(VERSION 3.25)
if(EXISTS ${SOURCE}/.git)
  execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --match v*
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(commit)
  set(commit " (${commit})")
endif()
file(CONFIGURE OUTPUT ${OUT} CONTENT "#define KERNELRL_COMMIT \"${commit}\"\n")
