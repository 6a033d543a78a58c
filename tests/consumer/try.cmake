# Uses the library from another project, by add_subdirectory or by find_package:
#   cmake -DWAY=... -DSOURCE=... -DBUILT=... -DFOLDER=... -DGENERATOR=... -DCOMPILER=... -P this
function(must)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE code OUTPUT_VARIABLE said ERROR_VARIABLE said)
  if(NOT code EQUAL 0)
    list(JOIN ARGV " " call)
    message(FATAL_ERROR "${call}\n${said}")
  endif()
endfunction()

file(REMOVE_RECURSE ${FOLDER})
set(configure ${CMAKE_COMMAND} -S ${SOURCE}/tests/consumer -B ${FOLDER}/build -G ${GENERATOR}
    -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}
    -DEXAMPLE=${SOURCE}/examples/pendulum.cpp -DHOST_EXAMPLE=${SOURCE}/tests/consumer/host.cpp -DCMAKE_BUILD_TYPE=Release)
if(WAY STREQUAL "add_subdirectory")
  must(${configure} -DRICOCHET_FOLDER=${SOURCE})
  # Compiling the library again takes minutes; one file of the consumer shows what matters.
  if(GENERATOR STREQUAL "Ninja")
    must(${CMAKE_COMMAND} --build ${FOLDER}/build --target CMakeFiles/consumer.dir/main.cpp.o
         CMakeFiles/consumer-host.dir/host.cpp.o)
  endif()
else()
  must(${CMAKE_COMMAND} --install ${BUILT} --prefix ${FOLDER}/prefix)
  must(${configure} -DCMAKE_PREFIX_PATH=${FOLDER}/prefix)
  must(${CMAKE_COMMAND} --build ${FOLDER}/build)
  must(${FOLDER}/build/consumer)
  must(${FOLDER}/build/consumer-host ${FOLDER}/build/problem.h5)
  must(${FOLDER}/prefix/bin/ricochet --version)
endif()
file(REMOVE_RECURSE ${FOLDER})
